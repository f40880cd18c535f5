import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  classifyFailure,
  classifyProviderFailure,
  createFailure,
  exitCodes,
  failureCodes,
  failureTraits,
  renderFailure,
  RerailError,
  severities,
  severityOf,
} from '../src/errors/index.ts';
import type { Failure, FailureCode } from '../src/errors/index.ts';
import { callModel } from '../src/model/index.ts';
import { createModelRegistry, resolveModel } from '../src/providers/index.ts';
import { openai } from '../src/providers/openai/index.ts';
import { createAgent, tool } from '../src/index.ts';
import type { AgentOptions, RunEvent } from '../src/index.ts';
import { graph } from '../src/flow/build-flow.ts';
import { flow } from '../src/flow/flow.ts';
import { handOff } from '../src/flow/hand-off.ts';
import { capability } from '../src/flow/plan/capability.ts';
import { plan } from '../src/flow/plan/plan.ts';
import { scriptedModel } from '../src/testing/index.ts';
import { openWorkspace, workspaceTools } from '../src/tools/workspace/index.ts';
import type { SandboxChoice } from '../src/tools/workspace/index.ts';
import type { ScriptEntry } from '../src/testing/index.ts';

// The first law: nothing counts until it is reached through the public API.

describe('every code has a producer', () => {
  it('reports exactly the code that nobody produces', () => {
    const sources = new Map([
      ['src/errors/codes.ts', 'export const failureTraits = { MADE: {}, FORGOTTEN: {}, MENTIONED: {} }'],
      ['src/errors/code-texts.ts', 'FORGOTTEN: { forPerson: …'],
      ['src/agent/step.test.ts', "expect(failure.code).toBe('FORGOTTEN')"],
      ['src/agent/step.ts', "return createFailure('MADE', …); // FORGOTTEN"],
      ['src/agent/other.ts', "const names = ['NOT_FORGOTTEN', 'FORGOTTEN_TOO']; /* FORGOTTEN */"],
      ['src/errors/classify/corpus-fixtures.ts', "{ code: 'FORGOTTEN' }"],
      ['src/agent/table.ts', 'MENTIONED: [1, 2]'],
    ]);
    expect(codesWithoutProducer(['MADE', 'FORGOTTEN', 'MENTIONED'], sources)).toEqual(['FORGOTTEN']);
  });

  it('finds one for each code of the table', () => {
    const sources = readSources();
    expect(sources.size).toBeGreaterThan(30);
    expect(codesWithoutProducer(failureCodes, sources)).toEqual([]);
  });
});

describe('every code can be provoked through the public API', () => {
  /** One way to provoke each code. The compiler asks for a row as soon as a code is added. */
  const provocations: Readonly<Record<FailureCode, () => Failure | Promise<Failure>>> = {
    PROVIDER_NOT_CONFIGURED: () => thrownFailure(() => openai('gpt-5.2', { environment: {} })),
    PROVIDER_NOT_SUPPORTED: () => thrownFailure(() => resolveModel('bedrock:anthropic.claude')),
    AUTHENTICATION_ERROR: () => answer(401, { type: 'authentication_error', message: 'invalid x-api-key' }),
    PERMISSION_DENIED: () => classifyFailure(systemError('EACCES', 'permission denied'), 'tool'),
    MODEL_NOT_FOUND: () => answer(404, { type: 'not_found_error', message: 'model: claude-9' }),
    MODEL_LOADING: () => answer(503, { message: 'Loading model', type: 'unavailable_error' }),
    RATE_LIMITED: () => answer(429, { type: 'rate_limit_error', message: 'Too many requests' }),
    QUOTA_EXCEEDED: () =>
      answer(429, { type: 'insufficient_quota', message: 'You exceeded your current quota' }),
    OVERLOADED: () => answer(529, { type: 'overloaded_error', message: 'Overloaded' }),
    SERVER_ERROR: () => answer(500, { type: 'api_error', message: 'Internal server error' }),
    NETWORK_ERROR: () =>
      classifyProviderFailure({ error: systemError('ECONNREFUSED', 'connect ECONNREFUSED') }),
    TIMEOUT: () => classifyFailure(new DOMException('timed out', 'TimeoutError'), 'tool'),
    CONTEXT_LENGTH_EXCEEDED: () =>
      answer(400, { message: 'prompt is too long: 213462 tokens > 200000 maximum' }),
    REQUEST_TOO_LARGE: () =>
      answer(413, { type: 'request_too_large', message: 'Request exceeds the maximum size' }),
    CONTENT_FILTERED: () => answer(400, { code: 'content_filter', message: 'The response was filtered' }),
    INVALID_REQUEST: () =>
      answer(400, { code: 'unsupported_parameter', message: "Unsupported parameter: 'top_k'" }),
    INVALID_RESPONSE: () =>
      classifyProviderFailure({ status: 200, body: '<html><title>Welcome</title></html>' }),
    EMPTY_RESPONSE: () => callFailure({ text: '' }),
    OUTPUT_TRUNCATED: () => callFailure({ text: 'Once upon a', finish: 'length' }),
    STREAM_INTERRUPTED: () => classifyProviderFailure({ error: new TypeError('terminated') }),
    TOOL_CALL_INVALID: () => answer(400, { code: 'tool_use_failed', message: 'Failed to call a function.' }),
    TOOL_EXECUTION_ERROR: () => classifyFailure(new Error('it broke'), 'tool'),
    TOOL_NOT_FOUND: () => toldFailure([{ toolCalls: [{ name: 'refnud' }] }, 'Sorry.']),
    UNKNOWN_OUTCOME: () => toldFailure([{ toolCalls: [{ name: 'deaf' }] }, 'Sorry.']),
    OUTPUT_PARSE_ERROR: () =>
      endFailure({ script: ['no JSON'], output: { type: 'object', required: ['a'] } }),
    COMPACTION_FAILED: () => provokedIn('test/agent/context.test.ts', 'COMPACTION_FAILED'),
    INITIALIZATION_ERROR: () =>
      endFailure({
        script: ['Hi.'],
        setup: () => {
          throw new Error('the schema is not there');
        },
      }),
    FLOW_INVALID: () =>
      thrownFailure(() => flow('a >> b', { agents: { a: createAgent({ model: scriptedModel([]) }) } })),
    FLOW_CYCLE: () => {
      const edges = [
        ['a', 'b'],
        ['b', 'a'],
      ] as const;
      const a = createAgent({ model: scriptedModel([]) });
      return thrownFailure(() => flow(graph(edges), { agents: { a, b: a } }));
    },
    MAX_HANDOFFS_EXCEEDED: () => handedToAndFro(),
    PLAN_INVALID: () =>
      plannedBadly({ steps: [{ key: 'a', capability: 'fly', objective: 'Fly.', inputs: [] }] }),
    REPLAN_LIMIT: () =>
      plannedBadly({ steps: [{ key: 'a', capability: 'look', objective: 'Look.', inputs: [] }] }),
    ACTIVITY_FAILED: () => provokedIn('test/engines/restate/failures.test.ts', 'ACTIVITY_FAILED'),
    SIGNAL_TIMEOUT: () => provokedIn('test/engines/restate/failures.test.ts', 'SIGNAL_TIMEOUT'),
    HISTORY_LIMIT: () => provokedIn('test/engines/restate/failures.test.ts', 'HISTORY_LIMIT'),
    MAX_ITERATIONS_EXCEEDED: () =>
      endFailure({ script: [{ toolCalls: [{ name: 'ping' }] }], limits: { maxTurns: 1 } }),
    BUDGET_EXCEEDED: () =>
      endFailure({ script: [{ toolCalls: [{ name: 'ping' }] }], limits: { maxTokens: 5 } }),
    ENDLESS_LOOP: () => endFailure({ script: [{ toolCalls: [{ name: 'ping' }] }] }),
    INVALID_STATE: () => injectedTooLate(),
    HOOK_FAILED: () =>
      endFailure({
        script: ['Hi.'],
        guard: () => {
          throw new Error('the rule engine is down');
        },
      }),
    HOOK_TERMINATED: () =>
      endFailure({ script: ['Hi.'], guard: () => ({ action: 'halt', reason: 'not today' }) }),
    VALIDATION_ERROR: () =>
      classifyFailure({ issues: [{ message: 'must be a number', path: ['cents'] }] }, 'tool'),
    SERIALIZATION_ERROR: () =>
      classifyFailure(
        thrownBy(() => JSON.stringify({ big: 1n })),
        'tool',
      ),
    IO_ERROR: () => classifyFailure(systemError('ENOSPC', 'no space left on device'), 'tool'),
    NOT_FOUND: () => classifyFailure(systemError('ENOENT', 'no such file or directory'), 'tool'),
    PATH_OUTSIDE_WORKSPACE: () => workspaceFailure('read_file', { path: '../outside.txt' }),
    SANDBOX_SETUP_FAILED: () =>
      workspaceFailure('shell', { command: 'true' }, { min: 'contained', off: 'this test' }),
    SANDBOX_EXECUTION_FAILED: () => workspaceFailure('shell', { command: 'echo \u0000' }),
    STORAGE_NOT_FOUND: () => classifyFailure(systemError('ENOENT', 'no such file or directory'), 'storage'),
    STORAGE_CORRUPT: () =>
      classifyFailure(systemError('SQLITE_CORRUPT', 'database disk image is malformed'), 'storage'),
    STORAGE_LOCKED: () => classifyFailure(systemError('SQLITE_BUSY', 'database is locked'), 'storage'),
    STORAGE_FULL: () => classifyFailure(systemError('ENOSPC', 'no space left on device'), 'storage'),
    STORAGE_IO: () => classifyFailure(systemError('EIO', 'i/o error'), 'storage'),
    STORAGE_READ_ONLY: () => classifyFailure(systemError('EROFS', 'read-only file system'), 'storage'),
    STORAGE_LOST: () => provokedIn('test/agent/stores.test.ts', 'STORAGE_LOST'),
    STORAGE_DIVERGED: () => provokedIn('test/agent/stores.test.ts', 'STORAGE_DIVERGED'),
    STORAGE_NEWER_SCHEMA: () => provokedIn('test/agent/stores.test.ts', 'STORAGE_NEWER_SCHEMA'),
    ALREADY_REGISTERED: () => thrownFailure(() => createModelRegistry().register('openai', openai)),
    NOT_REGISTERED: () => thrownFailure(() => resolveModel('antropic:claude-sonnet-5')),
    CONFIG_ERROR: () => classifyFailure(new Error('"maxTurns" must be positive, got -1'), 'config'),
    CANCELLED: () => classifyFailure(new DOMException('This operation was aborted', 'AbortError'), 'tool'),
    INTERNAL: () => classifyFailure(new TypeError('x is not a function'), 'agent'),
    UNKNOWN: () => classifyFailure('odd', 'agent'),
  };

  it('has a row for each code, and no row for another', () => {
    expect(Object.keys(provocations).toSorted()).toEqual([...failureCodes].toSorted());
  });

  it.each(Object.entries(provocations))('%s', async (code, provoke) => {
    const failure = await provoke();
    expect(failure.code).toBe(code);
    const { origins } = failureTraits[failure.code];
    expect(origins).toContain(failure.origin);
    // It can also be thrown, sent and read.
    const revived = RerailError.fromJSON(JSON.parse(JSON.stringify(RerailError.from(failure))));
    expect(revived.failure).toEqual(failure);
  });
});

describe.each(failureCodes)('the texts of %s', (code) => {
  const textsOf = (): readonly Record<'person' | 'model' | 'developer', string>[] => {
    const message = 'Cannot do it: the value was 7';
    const provider = { provider: 'anthropic', model: 'claude-sonnet-5', statusCode: 400 };
    const bare = createFailure(code, { message });
    const known = createFailure(code, {
      message,
      provider,
      context: { tool: 'search' },
      retryAfterMs: 12_000,
    });
    return [bare, known].flatMap((failure) =>
      [true, false].map((retrying) => ({
        person: renderFailure(failure, 'person', { retrying }),
        model: renderFailure(failure, 'model', { retrying }),
        developer: renderFailure(failure, 'developer', { retrying }),
      })),
    );
  };

  it('are three, and each says something of its own', () => {
    for (const { person, model, developer } of textsOf()) {
      expect(new Set([person, model, developer]).size).toBe(3);
      for (const text of [person, model, developer]) expect(text.length).toBeGreaterThan(20);
    }
  });

  it('hold no placeholder and no trace of a missing value', () => {
    for (const text of textsOf().flatMap((each) => Object.values(each))) {
      expect(text).not.toMatch(/\{\w+\}|undefined|\bNaN\b|\[object /);
    }
  });

  it('are sentences that end, begin with a capital and do not double their full stop', () => {
    for (const { person, model } of textsOf()) {
      for (const text of [person, model]) {
        expect(text).toMatch(/^[A-Z“"]/);
        expect(text).toMatch(/[.!?]$/);
        expect(text).not.toMatch(/[^.]\.\.(?!\.)|\. \.| {2}/);
      }
    }
  });

  it('spare a person the jargon', () => {
    for (const { person } of textsOf()) {
      expect(person).not.toMatch(/\bhttp\b|\bstatus \d|\bjson\b|\berrno\b|\bstack\b|\bexception\b/i);
      expect(person).not.toMatch(/[A-Z]{3,}_[A-Z]|\bE[A-Z]{4,}\b/);
      expect(person).not.toContain(code);
    }
  });

  it('name the code for a developer', () => {
    for (const { developer } of textsOf()) expect(developer).toContain(code);
  });
});

describe('the table of codes', () => {
  it.each(failureCodes)('%s has sane traits', (code) => {
    const traits = failureTraits[code];
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(traits.httpStatus).toBeGreaterThanOrEqual(400);
    expect(traits.httpStatus).toBeLessThanOrEqual(599);
    expect(traits.exitCode).toBeGreaterThanOrEqual(1);
    expect(traits.exitCode).toBeLessThanOrEqual(255);
    expect(Object.values(exitCodes)).toContain(traits.exitCode);
    expect(traits.origins.length).toBeGreaterThan(0);
    expect(new Set(traits.origins).size).toBe(traits.origins.length);
    // What the table says of severity holds for the failure that is not retryable.
    expect(severities).toContain(traits.severity);
    expect(traits.severity).not.toBe('retriable');
    expect(severityOf({ code, retryable: true })).toBe('retriable');
    expect(severityOf({ code, retryable: false })).toBe(traits.severity);
  });

  it('never retries what ends a run', () => {
    const fatal = failureCodes.filter((code) => failureTraits[code].severity === 'fatal');
    expect(fatal).toContain('INTERNAL');
    expect(fatal.filter((code) => failureTraits[code].retryable)).toEqual([]);
    for (const code of ['UNKNOWN', 'CANCELLED', 'QUOTA_EXCEEDED'] as const)
      expect(failureTraits[code].retryable).toBe(false);
  });

  it('gives different kinds of failures different exit codes', () => {
    expect(new Set(Object.values(exitCodes)).size).toBe(Object.keys(exitCodes).length);
  });
});

const tables = new Set([
  'src/errors/codes.ts',
  'src/errors/code-texts.ts',
  'src/errors/flow-texts.ts',
  'src/errors/storage-texts.ts',
  'src/resilience/recovery-routes.ts',
  'src/agent/ladder.ts',
]);

/** The codes that no source mentions as a word of its own. Tables, comments, tests and their fixtures do not count. */
function codesWithoutProducer(
  codes: readonly string[],
  sources: ReadonlyMap<string, string>,
): readonly string[] {
  const texts = [...sources]
    .filter(([file]) => !tables.has(file) && !/\.test\.ts$|corpus|fixture/.test(file))
    .map(([, text]) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ''));
  return codes.filter((code) => !texts.some((text) => new RegExp(String.raw`\b${code}\b`).test(text)));
}

function readSources(): ReadonlyMap<string, string> {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  return new Map(
    files.map((file) => {
      const name = path.posix.join('src', ...file.split(path.sep));
      return [name, readFileSync(name, 'utf8')];
    }),
  );
}

function answer(status: number, error: Readonly<Record<string, string>>): Failure {
  return classifyProviderFailure({ status, body: JSON.stringify({ error }) });
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('Expected the action to throw');
}

/** A plan that always says the same, over a capability that always asks for another one. */
async function plannedBadly(planned: object): Promise<Failure> {
  const look = capability({
    name: 'look',
    description: 'Looks.',
    execute: (_values, { fail }) => fail('it is dark', { context: { severity: 'replanning' } }),
  });
  const model = scriptedModel(({ messages }) =>
    JSON.stringify(messages).includes('Make a plan')
      ? JSON.stringify({ ...planned, question: '' })
      : JSON.stringify({ capabilities: ['look'], none: '' }),
  );
  const outcome = await plan({ model, capabilities: [look], extractTask: false }).run('Look.');
  if (outcome.type !== 'failed') throw new Error(`It ended ${outcome.type}`);
  return outcome.failure;
}

/** Two agents that each think it is the other's affair. */
async function handedToAndFro(): Promise<Failure> {
  const sender = (to: string): ReturnType<typeof createAgent> => {
    const entry = { toolCalls: [{ name: 'hand_off', arguments: { to, reason: 'not mine' } }] };
    return createAgent({ model: scriptedModel([entry], { repeat: 'last' }) });
  };
  const agents = { a: sender('b'), b: sender('a') };
  const outcome = await handOff({ agents, start: 'a', maxHandoffs: 2 }).run('Who takes it?');
  if (outcome.type !== 'failed') throw new Error(`It ended as ${outcome.type}`);
  return outcome.failure;
}

function thrownFailure(action: () => unknown): Failure {
  const error = thrownBy(action);
  if (!RerailError.isInstance(error)) throw new Error('Expected a RerailError', { cause: error });
  return error.failure;
}

async function callFailure(entry: ScriptEntry): Promise<Failure> {
  const model = scriptedModel([entry], { repeat: 'last' });
  const messages = [{ role: 'user', content: 'Hello' }] as const;
  const outcome = await callModel(model, { messages }, { policy: { retry: 'none' } });
  if (outcome.type === 'success') throw new Error('Expected a failure');
  return outcome.failure;
}

interface Provocation {
  readonly script: readonly ScriptEntry[];
  readonly limits?: AgentOptions['limits'];
  readonly output?: Readonly<Record<string, unknown>>;
  readonly setup?: () => void;
  readonly guard?: () => { readonly action: 'halt'; readonly reason: string };
}

const noInput = { type: 'object', properties: {} } as const;
const ping = tool({
  name: 'ping',
  description: 'Pings.',
  input: noInput,
  effect: 'read',
  execute: () => 'pong',
});
const deaf = tool({
  name: 'deaf',
  description: 'Never answers.',
  input: noInput,
  timeoutMs: 20,
  execute: () => new Promise(() => undefined),
});

function agentFor({
  script,
  limits = {},
  output,
  guard,
  setup,
}: Provocation): ReturnType<typeof createAgent> {
  const hooks =
    guard === undefined ? [] : [{ name: 'rule', kind: 'guardrail', on: { 'before-model': guard } } as const];
  return createAgent({
    model: scriptedModel(script, { repeat: 'last' }),
    tools: [ping, deaf],
    policy: { retry: 'none', salvage: false, inDoubt: 'tell' },
    limits,
    hooks,
    ...(output === undefined ? {} : { output }),
    ...(setup === undefined ? {} : { setup }),
  });
}

/** What takes files or a long conversation is provoked in a test of its own, which must then expect that very code. */
function provokedIn(file: string, code: FailureCode): Failure {
  const expectation = new RegExp(String.raw`\bcode: '${code}'`);
  if (!expectation.test(readFileSync(file, 'utf8'))) throw new Error(`${file} does not expect ${code}`);
  return createFailure(code, { message: `Provoked in ${file}` });
}

/** The failure with which a run ends. */
async function endFailure(provocation: Provocation): Promise<Failure> {
  const outcome = await agentFor(provocation).run('Do it');
  if (outcome.type !== 'failed' && outcome.type !== 'stopped') throw new Error(`It ended ${outcome.type}`);
  if (outcome.failure === undefined) throw new Error('Expected a failure');
  return outcome.failure;
}

/** The first failure that a run tells of. */
async function toldFailure(script: readonly ScriptEntry[]): Promise<Failure> {
  const events: RunEvent[] = [];
  await agentFor({ script }).run('Do it', { onEvent: (event) => void events.push(event) });
  const told = events.find((event) => event.type === 'failure');
  if (told === undefined) throw new Error('Expected a failure');
  return told.failure;
}

/** What a tool of a workspace tells, asked by an agent. */
async function workspaceFailure(
  name: string,
  input: Readonly<Record<string, string>>,
  sandbox: SandboxChoice = {},
): Promise<Failure> {
  const folder = await mkdtemp(path.join(tmpdir(), 'rerail-codes-'));
  try {
    const workspace = await openWorkspace(folder, { sandbox });
    const events: RunEvent[] = [];
    const agent = createAgent({
      model: scriptedModel([{ toolCalls: [{ name, arguments: input }] }, 'Sorry.']),
      tools: workspaceTools(workspace),
      policy: { permissions: [{ tool: name, permission: 'allow' }] },
    });
    await agent.run('Do it', { onEvent: (event) => void events.push(event) });
    const told = events.find((event) => event.type === 'failure');
    if (told === undefined) throw new Error('Expected a failure');
    return told.failure;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function injectedTooLate(): Promise<Failure> {
  const agent = agentFor({ script: ['Done.'] });
  const { runId } = await agent.run('Do it');
  const error: unknown = await agent.inject(runId, 'One more thing').catch((thrown: unknown) => thrown);
  return thrownFailure(() => {
    throw error;
  });
}
