import { createAgent, createWorker, tool } from '../../src/index.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { readGiven, say } from '../kill/say.ts';

// A process of its own, for what only a process can do: die, stand still, be another machine. Says what it did, line by line.

/** What a process is started with. */
export interface ChildGiven {
  readonly address: string;
  readonly command: 'hold' | 'fight' | 'ask' | 'answer' | 'die' | 'work';
  readonly leaseMs: number;
}

const given = readGiven() as ChildGiven; // Of our own test.
const store = postgres(given.address, { busyTimeoutMs: 10_000 });
const owner = { id: `owner-${process.pid}`, leaseMs: given.leaseMs };
const note = (body: string | number) => ({ type: 'note', body });

const codeOf = (thrown: unknown): string =>
  RerailError.isInstance(thrown) ? thrown.code : `no failure: ${String(thrown)}`;

const agent = createAgent({
  name: 'clerk',
  model: scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? 'Done.'
      : { toolCalls: [{ name: 'pay', callId: '1', arguments: {} }] },
  ),
  tools: [
    tool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object', properties: {}, additionalProperties: false },
      effect: 'idempotent',
      permission: 'ask',
      execute: async (_input, { idempotencyKey: key, signal }) => {
        say({ kind: 'paid', key });
        // As long as it takes somebody to kill this process.
        if (given.command === 'die')
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return 'paid';
      },
    }),
  ],
  store,
  leaseMs: given.leaseMs,
});

const commands: Readonly<Record<ChildGiven['command'], () => Promise<void>>> = {
  /** Holds a run and adds to it, one event after the other, until it is refused. */
  hold: async () => {
    const created = await store.runs.create({ runId: 'held', agent: 'clerk', events: [note(0)] }, owner);
    if (created.type !== 'created') throw new Error('The run is there already');
    say({ kind: 'ready', ownerId: owner.id });
    for (let body = 1; ; body += 1) {
      // Ends where it is refused, and with the process.
      try {
        await store.runs.append(created.lease, { events: [note(body)] });
        say({ kind: 'wrote', body });
      } catch (error) {
        return say({ kind: 'refused', code: codeOf(error) });
      }
    }
  },
  /** Takes the run whenever it can, adds to it, and gives it back. */
  fight: async () => {
    say({ kind: 'ready' });
    for (let rounds = 0; rounds < 15;) {
      const claimed = await store.runs.claim('prize', owner);
      if (claimed.type !== 'claimed') continue;
      await store.runs.append(claimed.lease, { events: [note(owner.id), note(owner.id)] });
      await store.runs.release(claimed.lease);
      rounds += 1;
    }
  },
  /** Runs until a person is asked. */
  ask: async () => {
    const outcome = await agent.run('Pay, please.', { runId: 'asked' });
    say({ kind: 'outcome', type: outcome.type });
  },
  /** Is that person. */
  answer: async () => {
    const outcome = await agent.resume('asked', { answer: { approved: true } });
    say({ kind: 'outcome', type: outcome.type });
  },
  /** Is that person, and is killed before it is done. */
  die: async () => {
    await agent.resume('asked', { answer: { approved: true } });
  },
  /** Carries on what others have left. */
  work: async () => {
    const worker = createWorker([agent], store, {
      pollMs: 50,
      onEvent: (event) => {
        if (event.type === 'run-finished')
          say({ kind: 'finished', runId: event.runId, type: event.outcome.type });
      },
    });
    await worker.start();
    say({ kind: 'ready' });
  },
};

await commands[given.command]();
if (given.command !== 'work') await store.close();
say({ kind: 'over' });
