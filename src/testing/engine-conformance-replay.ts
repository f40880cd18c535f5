import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import type { Durable, DurableProgram, Effect } from '../runtime/record/durable.ts';
import { createDoor, done, mustBe, valueOf } from './engine-conformance-scene.ts';
import type { EngineRule } from './engine-conformance-scene.ts';
import { must } from './model-conformance-probe.ts';

const crashes: readonly EngineRule[] = [
  {
    name: 'gives what it remembers after a crash, and performs nothing twice',
    needs: 'reopen',
    check: async (stage) => {
      let performed = 0;
      const scene = await stage.open({
        program: async (durable, input) => {
          const first = await durable.call('count', 'a');
          await durable.sleep(10);
          const broken = await durable.call('broken', 'b');
          const signal = await durable.waitFor('go');
          const last = await durable.call('count', 'c');
          return [input, valueOf(first), broken.type, signal.type, valueOf(last)];
        },
        effects: {
          count: () => done((performed += 1)),
          broken: () => {
            performed += 1;
            return { type: 'failed', failure: createFailure('SERVER_ERROR', { message: 'broken' }) };
          },
        },
      });
      await scene.start('input');
      for (let crash = 0; crash < 2; crash += 1) {
        await scene.waitsFor('go');
        await scene.crash();
      }
      await scene.waitsFor('go');
      await scene.signal('go', 'go-1');
      mustBe(await scene.result(), ['input', 1, 'failed', 'signalled', 3], 'The run is not what it was.');
      must(performed === 3, `Three effects were performed ${performed} times.`);
    },
  },
  {
    name: 'performs after a crash what has no recorded outcome, and keeps every outcome in its place',
    needs: 'reopen',
    check: async (stage) => {
      const doors = [createDoor(), createDoor(), createDoor()];
      const performed = [0, 0, 0];
      const slow: Effect = async (input) => {
        const index = Number(input);
        performed[index] = Number(performed[index]) + 1;
        await doors[index]?.opened;
        return done(`answer ${index}`);
      };
      const scene = await stage.open({
        program: async (durable) => {
          const both = doors.map((_, index) => durable.call('slow', index));
          await both[2];
          await durable.call('mark', null);
          return (await Promise.all(both)).map(valueOf);
        },
        effects: { slow, mark: () => done(null) },
      });
      await scene.start();
      await scene.until(
        () => performed.every((count) => count === 1),
        'The calls do not run at the same time.',
      );
      doors[2]?.open();
      await scene.pass(50);
      await scene.crash();
      await scene.until(() => performed[0] === 2 && performed[1] === 2, 'What was in progress was lost.');
      doors[1]?.open();
      await scene.pass(50);
      doors[0]?.open();
      mustBe(await scene.result(), ['answer 0', 'answer 1', 'answer 2'], 'The answers are mixed up.');
      must(performed[2] === 1, 'A recorded outcome was produced a second time.');
    },
  },
  {
    name: 'keeps to exactly six attempts across a crash in the middle',
    needs: 'reopen',
    check: async (stage) => {
      let attempts = 0;
      const scene = await stage.open({
        program: async (durable) => {
          for (let attempt = 1; attempt <= 6; attempt += 1) {
            const outcome = await durable.call('refuse', attempt);
            if (outcome.type === 'done') return attempt;
            await durable.sleep(100);
          }
          return 'given up';
        },
        effects: {
          refuse: () => {
            attempts += 1;
            return { type: 'failed', failure: createFailure('SERVER_ERROR', { message: 'still down' }) };
          },
        },
      });
      await scene.start();
      await scene.until(() => attempts === 3, 'There are no three attempts.');
      await scene.pass(20);
      await scene.crash();
      mustBe(await scene.result(), 'given up', 'It went on for ever.');
      must(attempts === 6, `Six attempts became ${attempts}.`);
    },
  },
  {
    name: 'sleeps neither again nor longer because of a crash',
    needs: 'reopen',
    check: async (stage) => {
      const scene = await stage.open({
        program: async (durable) => {
          await durable.sleep(400);
          await durable.waitFor('over');
          return null;
        },
      });
      await scene.start();
      await scene.pass(300);
      await scene.crash();
      await scene.pass(150);
      // With timers of its own, an engine may be late; only by our clock is that its fault.
      const { type } = await scene.status();
      must(type === 'waiting' || !scene.usesClock(), 'A crash in the middle of a sleep made it longer.');
      await scene.waitsFor('over');
      await scene.crash();
      await scene.pass(1);
      const after = await scene.status();
      must(after.type === 'waiting' || !scene.usesClock(), 'A sleep that was over was slept again.');
      await scene.waitsFor('over');
    },
  },
];

type Step = (durable: Durable) => Promise<unknown>;

/** What stands second in the program, before the crash and after it, and what each side must be called. */
const changes: readonly {
  readonly name: string;
  readonly before: Step;
  readonly after: Step;
  readonly named: readonly string[];
}[] = [
  {
    name: 'another effect',
    before: (durable) => durable.call('charge', 5),
    after: (durable) => durable.call('refund', 5),
    named: ['charge', 'refund'],
  },
  {
    name: 'another input',
    before: (durable) => durable.call('charge', { cents: 1234 }),
    after: (durable) => durable.call('charge', { cents: 9876 }),
    named: ['1234', '9876'],
  },
  {
    name: 'a wait in the place of a call',
    before: (durable) => durable.call('charge', 5),
    after: (durable) => durable.waitFor('approval'),
    named: ['charge', 'approval'],
  },
];

const changed: readonly EngineRule[] = changes.map(({ name, before, after, named }) => ({
  name: `notices that the program changed: ${name}`,
  needs: 'reopen' as const,
  check: async (stage) => {
    const programWith =
      (step: Step): DurableProgram =>
      async (durable) => {
        await durable.call('open', null);
        await step(durable);
        await durable.waitFor('go');
        return null;
      };
    const scene = await stage.open({
      program: programWith(before),
      effects: { open: () => done(null), charge: () => done(null), refund: () => done(null) },
    });
    await scene.start();
    await scene.waitsFor('go');
    await scene.crash({ program: programWith(after) });
    const end = await scene.end();
    must(end.type === 'broken', 'The changed program ended as if nothing had been.');
    for (const word of named)
      must(end.failure.message.includes(word), `"${end.failure.message}" does not name "${word}".`);
  },
}));

const restarts: readonly EngineRule[] = [
  {
    name: 'begins a new journal on restart, for the same run, and counts the generation',
    check: async (stage) => {
      const seen: Json[] = [];
      const scene = await stage.open({
        program: async (durable, input) => {
          await durable.call('look', durable.runId);
          const turn = Number(input);
          if (turn < 3) durable.restart(turn + 1);
          return [turn, durable.generation];
        },
        effects: {
          look: (input, { position, runId }) => {
            seen.push([position, input === runId]);
            return done(null);
          },
        },
      });
      await scene.start(1);
      mustBe(await scene.result(), [3, 3], 'The third generation is wrong.');
      const first = seen[0] ?? null;
      mustBe(seen, [first, first, first], 'A generation does not begin with a journal of its own.');
    },
  },
  {
    name: 'keeps the generation and its state across a crash',
    needs: 'reopen',
    check: async (stage) => {
      let performed = 0;
      const scene = await stage.open({
        program: async (durable, input) => {
          const count = valueOf(await durable.call('count', input));
          if (input === 'old') durable.restart('new');
          await durable.waitFor('go');
          return [input, durable.generation, count];
        },
        effects: { count: () => done((performed += 1)) },
      });
      await scene.start('old');
      await scene.waitsFor('go');
      await scene.crash();
      await scene.waitsFor('go');
      await scene.signal('go', 'go-1');
      mustBe(await scene.result(), ['new', 2, 2], 'The run began elsewhere than where it was.');
      must(performed === 2, `Two effects were performed ${performed} times.`);
    },
  },
];

/** Every promise about the journal. */
export const replayRules: readonly EngineRule[] = [...crashes, ...changed, ...restarts];
