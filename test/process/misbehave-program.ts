import { EventEmitter } from 'node:events';
import process from 'node:process';
import { flow } from '../../src/flow/index.ts';
import { callModel, createAgent, createWorker, tool } from '../../src/index.ts';
import type { AgentOptions, Hook, Model, RunEvent } from '../../src/index.ts';
import type { Schema } from '../../src/model/tool.ts';
import type { StandardSchema } from '../../src/model/schema/standard-schema.ts';
import { openai } from '../../src/providers/openai/index.ts';
import { memoryStore, scriptedModel } from '../../src/testing/index.ts';

// A program of its own: code of a user misbehaves in it, in the place and the way that its arguments name. It prints one line of
// JSON with what became of the run; whether it lives to do so is what the test is about.

type Way = () => unknown;

const error = (): Error => new Error('cache is down');
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const ways: Readonly<Record<string, Way>> = {
  throws: () => {
    throw error();
  },
  rejects: () => Promise.reject(error()),
  'rejects-later': async () => {
    await later(5);
    throw error();
  },
  // A thenable of a user that throws is what this is about.
  // oxlint-disable-next-line unicorn/no-thenable
  'thenable-throws': () => ({ then: () => ways['throws']?.() }),
  floats: () => void (async () => Promise.reject(error()))(),
  'floats-later': () => void later(10).then(() => Promise.reject(error())),
  'timer-throws': () => void setTimeout(() => ways['throws']?.(), 5),
  'emits-error': () => void setTimeout(() => new EventEmitter().emit('error', error()), 5),
  'tick-throws': () => process.nextTick(() => ways['throws']?.()),
  hangs: () => new Promise(() => undefined),
  'changes the working directory': () => process.chdir('/'),
  'changes the environment': () => void (process.env['RERAIL_PROBE'] = 'secret-value'),
  'changes the umask': () => void process.umask(0o077),
};

const [place = '', wayName = '', policy = 'report'] = process.argv.slice(2);
const way: Way = ways[wayName] ?? (() => undefined);

const events: RunEvent[] = [];
const observer = (on: Hook['on'], rest: object = {}): Hook =>
  ({ name: 'probe', kind: 'observer', on, ...rest }) as Hook;
const at = (wanted: string, act: Way): Way => (place === wanted ? act : () => undefined);

const describeObject = (): Record<string, unknown> => ({ type: 'object', properties: {} });

/** A schema of a library of the user, which checks a value as the way says. */
const schemaThat = (check: Way): StandardSchema<never> => ({
  '~standard': {
    version: 1,
    vendor: 'probe',
    validate: (value) => {
      const answer = check();
      const valid = { value: value as never };
      return answer instanceof Promise ? answer.then(() => valid) : valid;
    },
    jsonSchema: { input: describeObject, output: describeObject },
  },
});

const refresh = tool({
  name: 'refresh',
  description: 'For tests.',
  input: place === 'input-schema' ? schemaThat(way) : { type: 'object', properties: {} },
  effect: 'read',
  permission: place === 'onApproval' ? 'ask' : 'allow',
  ...(place === 'resource' ? { resource: way as () => string } : {}),
  ...(place === 'classifyError' ? { classifyError: way as () => undefined } : {}),
  ...(place === 'on-abort' ? { timeoutMs: 20 } : {}),
  execute: (_input, { signal }) => {
    if (place === 'on-abort')
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        signal.addEventListener('abort', way, { once: true });
      });
    if (place === 'classifyError') throw new Error('for the classifier');
    if (place === 'toJSON') return { toJSON: way };
    return place === 'execute' || place === 'worker' ? (way() ?? 'ok') : 'ok';
  },
});

const hooks: Readonly<Record<string, readonly Hook[]>> = {
  observer: [observer({ 'run-start': way } as Hook['on'])],
  'observer-event': [observer({}, { onEvent: way })],
  guardrail: [{ name: 'probe', kind: 'guardrail', on: { 'before-tool': way } } as Hook],
  transformer: [{ name: 'probe', kind: 'transformer', on: { 'before-model': way } } as Hook],
};

const script = scriptedModel([
  { toolCalls: [{ name: 'refresh', arguments: {} }] },
  place === 'output-schema' ? '{}' : 'Done.',
]);
/** A model of the user, whose own code misbehaves. */
const model: Model =
  place === 'model'
    ? {
        ...script,
        call: async (...given) => {
          await way();
          return script.call(...given);
        },
      }
    : script;

const options: AgentOptions<Schema> = {
  name: 'prober',
  model: place === 'fetch' ? openai('gpt-5', { apiKey: 'k', fetch: way as typeof fetch }) : model,
  tools: [refresh],
  ...(place === 'output-schema' ? { output: schemaThat(way) } : {}),
  policy: { strayErrors: policy as 'report', retry: 'none' },
  hooks: hooks[place] ?? [],
  callbacks: {
    onEvent: (event) => {
      events.push(event);
      return at('callback-onEvent', way)() as undefined;
    },
    ...(place === 'onDebug' ? { onDebug: way as () => undefined } : {}),
    ...(place === 'onApproval' ? { onApproval: () => (way() ?? true) as true } : {}),
  },
  ...(place === 'setup' ? { setup: way as () => undefined } : {}),
};

/** The run is released before its first answer, and a worker of the same process completes it. */
async function playByWorker(): Promise<{ readonly type: string }> {
  const store = memoryStore();
  const runId = 'released';
  const silent: Model = {
    ...script,
    call: (_request, given) =>
      new Promise((_resolve, reject) => given?.signal?.addEventListener('abort', reject)),
  };
  const first = createAgent({ ...options, store, model: silent, hooks: [] });
  const begun = first.run('Go.', {
    runId,
    onEvent: ({ type }) => void (type === 'attempt-started' && setTimeout(() => void first.release(runId))),
  });
  await begun;
  const worker = createWorker([createAgent({ ...options, store })], store, {
    signals: false,
    pollMs: 10,
    ...(place === 'worker-onEvent' ? { onEvent: way as () => undefined } : {}),
  });
  await worker.start();
  // Bounded by the time that the test gives this process.
  while ((await store.runs.find(runId))?.status !== 'completed') await later(10);
  await worker.stop();
  return { type: 'completed' };
}

async function play(): Promise<{ readonly type: string }> {
  if (place === 'callModel') {
    return callModel(
      model,
      { messages: [{ role: 'user', content: 'Go.' }] },
      { onEvent: way as () => undefined },
    ).catch(() => ({ type: 'threw' }));
  }
  if (place === 'worker' || place === 'worker-onEvent') return playByWorker();
  const agent = createAgent(options);
  if (place !== 'when' && place !== 'input') {
    return agent.run('Go.', place === 'run-onEvent' ? { onEvent: way as () => undefined } : {});
  }
  const node = place === 'when' ? { when: () => way() ?? true } : { input: () => way() ?? 'Go.' };
  const made = flow('prober', { agents: { prober: agent }, nodes: { prober: node as object } });
  return made.run('Go.', { onEvent: (event) => void events.push(event) });
}

if (place === 'elsewhere') {
  await createAgent(options).run('Go.');
  void later(5).then(() => Promise.reject(new Error('not of a tool')));
}
const outcome = place === 'elsewhere' ? undefined : await play();
await later(60);
const told = events.filter(({ type }) => type === 'tool-warning' || type === 'hook-failed');
process.stdout.write(`${JSON.stringify({ outcome: outcome?.type, told })}\n`);
const endedMs = performance.now();
process.on('exit', () => process.stderr.write(`held for ${Math.round(performance.now() - endedMs)} ms\n`));
