// Rerail with a store, as bench/storage.mjs runs it.
import { createAgent, tool } from '../dist/index.js';
import { trustCall } from '../dist/model/trusted-calls.js';
import { openaiCompatible } from '../dist/providers/openai-compatible/index.js';
import { sqlite } from '../dist/storage/sqlite/index.js';
import {
  answer,
  argumentsOf,
  instructions,
  key,
  lookUp,
  modelName,
  prompt,
  toolDescription,
  toolName,
  toolSchema,
} from './agent-task.mjs';

/**
 * @typedef {import('../dist/model/index.js').Model} Model
 * @typedef {import('../dist/model/index.js').ModelResponse} ModelResponse
 * @typedef {import('../dist/index.js').RunOutcome} RunOutcome
 * @typedef {'read' | 'idempotent' | 'once'} Effect
 */

/** As many turns as a part asks for. */
const limits = { maxTurns: 100_000, maxToolCalls: 100_000 };

/**
 * An agent whose runs are kept in a file. Unless told, its tool must find the answer that asks for it on record: a write for each step.
 *
 * @param {{ model: Model, file: string, effect?: Effect, execute?: (input: { query: string }) => string }} task
 */
export function createKeptAgent({ model, file, effect = 'idempotent', execute = lookUp }) {
  const store = sqlite(file);
  const lookup = tool({
    name: toolName,
    description: toolDescription,
    input: toolSchema,
    effect,
    execute: (input) => execute(input),
  });
  const agent = createAgent({ name: 'bench', model, instructions, tools: [lookup], store, limits });
  return { agent, store };
}

/**
 * @param {{ baseURL: string, file: string, effect: Effect }} task
 * @returns {import('./agent-task.mjs').Run}
 */
export function createKeptRun({ baseURL, file, effect }) {
  const model = openaiCompatible({ name: 'instant', baseURL, apiKey: key })(modelName);
  const { agent } = createKeptAgent({ model, file, effect });
  return async () => textOf(await agent.run(prompt));
}

/** @param {RunOutcome} outcome */
export function textOf(outcome) {
  if (outcome.type === 'completed') return outcome.text;
  const failure = 'failure' in outcome ? outcome.failure?.message : undefined;
  throw new Error(`The run ended as ${outcome.type}: ${failure ?? JSON.stringify(outcome.messages.at(-1))}`);
}

/**
 * A model in the process that answers at once: `onCall` hears of each turn, counted from 0, and `text` goes before each call.
 *
 * @param {{ turns: number, onCall?: (turn: number) => void, text?: string }} task
 * @returns {Model}
 */
export function instantModel({ turns, onCall, text = '' }) {
  return {
    provider: 'in-process',
    name: modelName,
    quotaKey: 'in-process',
    capabilities: {
      tools: true,
      parallelToolCalls: true,
      structuredOutput: 'none',
      images: false,
      files: false,
      reasoningEffort: false,
      reasoningBudget: false,
      caching: 'none',
      sampling: [],
      continuation: 'none',
    },
    call: trustCall(async (request) => {
      // One message opens the conversation besides the instructions, and every turn adds two.
      const opening = request.messages[0]?.role === 'system' ? 2 : 1;
      const turn = Math.floor((request.messages.length - opening) / 2);
      onCall?.(turn);
      return turn >= turns - 1 ? answerOf() : callOf(turn, text);
    }),
  };
}

const usage = { inputTokens: 20, outputTokens: 8 };

/** @returns {ModelResponse} */
function answerOf() {
  const content = [{ type: /** @type {const} */ ('text'), text: answer }];
  const finish = /** @type {const} */ ({ reason: 'stop', raw: 'stop' });
  return { type: 'success', result: { content, text: answer, toolCalls: [], finish, usage } };
}

/**
 * @param {number} turn
 * @param {string} text
 * @returns {ModelResponse}
 */
function callOf(turn, text) {
  const call = {
    type: /** @type {const} */ ('tool-call'),
    callId: `call_${turn}`,
    name: toolName,
    argumentsText: argumentsOf(turn),
  };
  const content = text === '' ? [call] : [{ type: /** @type {const} */ ('text'), text }, call];
  const finish = /** @type {const} */ ({ reason: 'tool-calls', raw: 'tool_calls' });
  return { type: 'success', result: { content, text, toolCalls: [call], finish, usage } };
}
