import { EventEmitter } from 'node:events';
import process from 'node:process';
import { flow } from '../../src/flow/index.ts';
import { createAgent, tool } from '../../src/index.ts';
import type { AgentOptions, Hook, RunEvent, RunOutcome } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

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

const refresh = tool({
  name: 'refresh',
  description: 'For tests.',
  input: { type: 'object', properties: {} },
  effect: 'read',
  permission: place === 'onApproval' ? 'ask' : 'allow',
  ...(place === 'resource' ? { resource: way as () => string } : {}),
  ...(place === 'classifyError' ? { classifyError: way as () => undefined } : {}),
  execute: () => {
    if (place === 'classifyError') throw new Error('for the classifier');
    return place === 'execute' ? (way() ?? 'ok') : 'ok';
  },
});

const hooks: Readonly<Record<string, readonly Hook[]>> = {
  observer: [observer({ 'run-start': way } as Hook['on'])],
  'observer-event': [observer({}, { onEvent: way })],
};

const options: AgentOptions = {
  name: 'prober',
  model: scriptedModel([{ toolCalls: [{ name: 'refresh', arguments: {} }] }, 'Done.']),
  tools: [refresh],
  policy: { strayErrors: policy as 'report', retry: 'none' },
  hooks: hooks[place] ?? [],
  callbacks: {
    onEvent: (event) => {
      events.push(event);
      return at('callback-onEvent', way)() as undefined;
    },
    ...(place === 'onDebug' ? { onDebug: way as () => undefined } : {}),
    ...(place === 'onApproval' ? { onApproval: () => way() ?? true } : {}),
  },
  ...(place === 'setup' ? { setup: way as () => undefined } : {}),
};

async function play(): Promise<RunOutcome> {
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
