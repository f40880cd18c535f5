import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createAgent, tool } from '../../src/index.ts';
import type { AgentOptions, RunOutcome } from '../../src/index.ts';
import { createModelRegistry, resolveModel } from '../../src/providers/index.ts';
import { openai } from '../../src/providers/openai/index.ts';
import type { Row, Stage } from './row.ts';

// What an agent, its hooks, its context, the registry and the configuration refuse or give up.

const ping = tool({
  name: 'ping',
  description: 'Pings.',
  input: { type: 'object', properties: {} },
  effect: 'read',
  execute: () => 'pong',
});

const readPage = tool({
  name: 'read_page',
  description: 'Reads the next page.',
  input: { type: 'object', properties: {} },
  effect: 'read',
  repeats: 'any',
  execute: () => 'A line of the page. '.repeat(200),
});

type Options = Omit<AgentOptions, 'model' | 'output'>;

/** An agent whose model calls the same tool at every turn. */
async function pinging(stage: Stage, options: Options): Promise<RunOutcome> {
  const model = await stage.model({ answers: [{ toolCalls: [{ name: 'ping' }] }] });
  return createAgent({ model, tools: [ping], policy: { salvage: false }, ...options }).run('Do it');
}

/** An agent whose model only talks. */
async function talking(stage: Stage, options: Options): Promise<RunOutcome> {
  return createAgent({ model: await stage.model(), ...options }).run('Hello');
}

export const agentRows = {
  PROVIDER_NOT_CONFIGURED: { origin: 'model', throws: () => openai('gpt-5.2', { environment: {} }) },
  PROVIDER_NOT_SUPPORTED: { origin: 'model', throws: () => resolveModel('bedrock:anthropic.claude') },
  ALREADY_REGISTERED: {
    origin: 'registry',
    throws: () => createModelRegistry().register('openai', openai),
  },
  NOT_REGISTERED: { origin: 'registry', throws: () => resolveModel('antropic:claude-sonnet-5') },
  CONFIG_ERROR: {
    origin: 'config',
    throws: async (stage) => createAgent({ model: await stage.model(), limits: { maxTurns: -1 } }),
  },
  INITIALIZATION_ERROR: {
    origin: 'agent',
    ends: (stage) =>
      talking(stage, { setup: () => void readFileSync(path.join(stage.folder, 'schema.json')) }),
  },
  OUTPUT_PARSE_ERROR: {
    origin: 'output',
    ends: async (stage) => {
      const model = await stage.model({ answers: ['This is no JSON.'] });
      const output = { type: 'object', required: ['total'], properties: { total: { type: 'number' } } };
      return createAgent({ model, output, policy: { salvage: false } }).run('How much?');
    },
  },
  COMPACTION_FAILED: {
    origin: 'context',
    reports: async (stage, onEvent) => {
      const context = {
        maxTokens: 8000,
        reserveTokens: 1000,
        strategy: 'summary',
        summaryModel: await stage.model({ fault: 'bad-request' }),
      } as const;
      const pages = Array.from({ length: 12 }, () => ({ toolCalls: [{ name: 'read_page' }] }));
      const model = await stage.model({ answers: [...pages, 'All read.'] });
      return createAgent({ model, tools: [readPage], context }).run('Read all pages', { onEvent });
    },
  },
  MAX_ITERATIONS_EXCEEDED: { origin: 'agent', ends: (stage) => pinging(stage, { limits: { maxTurns: 1 } }) },
  BUDGET_EXCEEDED: { origin: 'agent', ends: (stage) => pinging(stage, { limits: { maxTokens: 5 } }) },
  ENDLESS_LOOP: { origin: 'agent', ends: (stage) => pinging(stage, {}) },
  INVALID_STATE: {
    origin: 'agent',
    throws: async (stage) => {
      const agent = createAgent({ model: await stage.model() });
      const { runId } = await agent.run('Hello');
      await agent.inject(runId, 'One more thing');
    },
  },
  HOOK_FAILED: {
    origin: 'hook',
    ends: (stage) => {
      const check = (): void => {
        throw new Error('the rule engine is down');
      };
      return talking(stage, { hooks: [{ name: 'rule', kind: 'guardrail', on: { 'before-model': check } }] });
    },
  },
  HOOK_TERMINATED: {
    origin: 'hook',
    ends: (stage) => {
      const halt = () => ({ action: 'halt', reason: 'not today' }) as const;
      return talking(stage, { hooks: [{ name: 'rule', kind: 'guardrail', on: { 'before-model': halt } }] });
    },
  },
  INTERNAL: {
    origin: 'agent',
    ends: async (stage) => {
      const random = (): number => {
        throw new TypeError('x is not a function');
      };
      const model = await stage.model({ fault: 'overloaded' });
      return createAgent({ model, random }).run('Hello');
    },
  },
} as const satisfies Readonly<Record<string, Row>>;
