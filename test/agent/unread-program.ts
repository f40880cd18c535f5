import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createAgent, tool } from '../../src/index.ts';
import type { Agent, RunStream } from '../../src/index.ts';
import { flow } from '../../src/flow/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { readGiven, say } from '../kill/say.ts';

// A run whose stream is not read: how much memory is taken when it has ended, and its stream is still held.

const { flood } = readGiven() as { readonly flood: string };
const pieces = Array.from({ length: 44_000 }, (_, index) => String.fromCharCode(97 + (index % 26)));

const busy = tool({
  name: 'busy',
  description: 'Reports much.',
  effect: 'read',
  input: { type: 'object', properties: {} },
  execute: (_input, { progress }) => {
    for (let step = 0; step < 200_000; step += 1) progress(`step ${step}`, { done: step });
    return 'done';
  },
});

/** A model that thinks and speaks by turns, a piece of each. */
function thinking(): ReturnType<typeof scriptedModel> {
  const model = scriptedModel([{ text: pieces }]);
  return {
    ...model,
    call: (request, options) =>
      model.call(request, {
        ...options,
        onPart: (part) => {
          if (part.type === 'text-delta')
            void options?.onPart?.({ type: 'reasoning-delta', text: 'thinking ' });
          return options?.onPart?.(part);
        },
      }),
  };
}

const agents: Readonly<Record<string, () => Pick<Agent<unknown>, 'stream' | 'run'>>> = {
  reasoning: () => createAgent({ model: thinking() }),
  progress: () =>
    createAgent({
      model: scriptedModel([{ toolCalls: [{ name: 'busy', arguments: {} }] }, { text: pieces }]),
      tools: [busy],
    }),
  flow: () => flow('a | b', { agents: { a: speaker('a'), b: speaker('b') } }),
};

function speaker(name: string): Agent {
  return createAgent({ name, model: scriptedModel([{ text: pieces }], { repeat: 'last' }) });
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void; // By the flag above.

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const never = new Promise<void>(() => undefined);

/** Listeners that hang at the first event. */
function hanging(count: number): readonly Promise<unknown>[] {
  return Array.from({ length: count }, () => agent.run('Go', { runId: 'run', onEvent: () => never }));
}

const agent = (agents[flood] ?? ((): Pick<Agent<unknown>, 'stream' | 'run'> => speaker('plain')))();
const before = heapBytes();
const first = flood === 'joined' ? agent.run('Go', { runId: 'run' }) : undefined;
const listeners = flood === 'hanging' ? hanging(20) : [];
// Of runs that have ended, streams that nobody holds any more.
if (flood === 'ended')
  for (let index = 0; index < 40; index += 1) await agent.stream('Go', { runId: `run-${index}` }).outcome;
const streams: RunStream[] = [agent.stream('Go', { runId: 'run' })];
if (flood === 'stalled') await streams[0]?.[Symbol.asyncIterator]().next();
const outcome = await (first ?? streams[0]?.outcome);
await streams[0]?.outcome;
await Promise.all(listeners);
const heapMb = (heapBytes() - before) / 1_000_000;
say({
  kind: 'memory',
  heapMb,
  type: outcome?.type,
  text: outcome?.type === 'completed' ? outcome.text.length : 0,
});
// It is held to the end.
if (streams.length === 0) process.exitCode = 1;
