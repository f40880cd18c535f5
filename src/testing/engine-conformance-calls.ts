import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import type { Effect, RunStatus } from '../runtime/record/durable.ts';
import { createDoor, done, mustBe, toJson, valueOf } from './engine-conformance-scene.ts';
import type { EngineRule, Scene, Stage } from './engine-conformance-scene.ts';
import { must } from './model-conformance-probe.ts';

const failing: readonly EngineRule[] = [
  {
    name: "gives an effect's failure as a value, and performs the effect once",
    check: async (stage) => {
      let performed = 0;
      const failure = createFailure('RATE_LIMITED', {
        origin: 'tool',
        message: 'too fast',
        retryAfterMs: 20,
      });
      const scene = await stage.open({
        program: async (durable) => toJson(await durable.call('busy', null)),
        effects: {
          busy: () => {
            performed += 1;
            return { type: 'failed', failure };
          },
        },
      });
      await scene.start();
      mustBe(await scene.result(), toJson({ type: 'failed', failure }), 'The failure did not arrive whole.');
      must(performed === 1, `The effect was performed ${performed} times. Retry is above the port.`);
    },
  },
  ...(['throws', 'rejects', 'throws null'] as const).map((way): EngineRule => ({
    name: `makes a failure of an effect that ${way}`,
    check: async (stage) => {
      const throwers: Record<typeof way, Effect> = {
        throws: () => {
          throw new Error('the disk is on fire');
        },
        rejects: () => Promise.reject(new Error('the disk is on fire')),
        'throws null': () => {
          // As a library without manners does.
          // oxlint-disable-next-line typescript/only-throw-error
          throw null;
        },
      };
      const scene = await stage.open({
        program: async (durable) => toJson(await durable.call('thrower', null)),
        effects: { thrower: throwers[way] },
      });
      await scene.start();
      const outcome = JSON.stringify(await scene.result());
      must(outcome.includes('"type":"failed"'), `The outcome is ${outcome} instead of a failure.`);
      must(outcome.includes('"code":"UNKNOWN"'), `The failure carries no code of its own: ${outcome}`);
    },
  })),
  {
    name: 'calls a program that throws broken, and says why',
    check: async (stage) => {
      const scene = await stage.open({
        program: () => Promise.reject(new TypeError('order is undefined')),
      });
      await scene.start();
      const end = await scene.end();
      must(end.type === 'broken', 'A program that threw is told as ended.');
      must(end.failure.message.includes('order is undefined'), `It says "${end.failure.message}".`);
    },
  },
];

const starting: readonly EngineRule[] = [
  {
    name: 'starts a run once, however often it is told to',
    check: async (stage) => {
      const performed: Json[] = [];
      const scene = await stage.open({
        program: async (durable, input) => {
          await durable.call('note', input);
          await durable.waitFor('go');
          return input;
        },
        effects: {
          note: (input) => {
            performed.push(input);
            return done(null);
          },
        },
      });
      await Promise.all([scene.start('first'), scene.start('second')]);
      await scene.waitsFor('go');
      await scene.start('third');
      await scene.signal('go', 'go-1');
      mustBe(await scene.result(), 'first', 'A later start changed the input.');
      mustBe(performed, ['first'], 'The program was started more than once.');
    },
  },
  {
    name: 'starts an ended run again as its next generation, with the new input',
    check: async (stage) => {
      const scene = await stage.open({
        program: async (durable, input) => [
          input,
          durable.generation,
          valueOf(await durable.call('echo', input)),
        ],
        effects: { echo: (input) => done(input) },
      });
      await scene.start('old');
      mustBe(await scene.result(), ['old', 1, 'old'], 'The first generation is wrong.');
      await scene.start('new', 1);
      await scene.until(
        async () => JSON.stringify(await scene.status()).includes('new'),
        'It did not start again.',
      );
      mustBe(await scene.result(), ['new', 2, 'new'], 'The second generation is wrong.');
    },
  },
  {
    name: 'does not start an ended run again, whoever asks for it, with whatever input',
    check: async (stage) => {
      const { scene, performed } = await openCounting(stage);
      mustBe(await scene.start('first'), 'begun', 'It is not said that this start began the run.');
      mustBe(await scene.result(), ['first', 1], 'The first generation is wrong.');
      const later = await Promise.all([scene.start('first'), scene.start('other'), scene.start('third')]);
      mustBe(later, ['known', 'known', 'known'], 'It is not said that the run was known.');
      await scene.pass(settleMs);
      mustBe(await scene.result(), ['first', 1], 'A later start changed the result.');
      mustBe(performed, ['first'], 'What an ended run had done was done again.');
    },
  },
  {
    name: 'does not start an ended run again after a crash',
    needs: 'reopen',
    check: async (stage) => {
      const { scene, performed } = await openCounting(stage);
      await scene.start('first');
      await scene.result();
      await scene.crash();
      await scene.start('second');
      await scene.pass(settleMs);
      mustBe(await scene.result(), ['first', 1], 'A start after a crash changed the result.');
      mustBe(performed, ['first'], 'What an ended run had done was done again after a crash.');
    },
  },
  {
    name: 'begins one generation after another, however many ask for it, and none of them again',
    check: async (stage) => {
      const { scene, performed } = await openCounting(stage);
      await scene.start('first');
      await scene.result();
      await Promise.all([scene.start('second', 1), scene.start('third', 1)]);
      await scene.until(async () => generationOf(await scene.status()) === 2, 'It did not start again.');
      mustBe(await scene.start('late', 1), 'known', 'A start after an earlier end began something.');
      await scene.pass(settleMs);
      mustBe(generationOf(await scene.status()), 2, 'A generation was begun twice.');
      must(performed.length === 2, `Two generations did what they do ${performed.length} times.`);
    },
  },
  {
    name: 'does not know a run that nobody started',
    check: async (stage) => {
      const scene = await stage.open({ program: () => Promise.resolve(null) });
      const { type } = await scene.status();
      must(type === 'unknown', `The status of a run that nobody started is "${type}".`);
    },
  },
];

/** Long enough for what was wrongly begun to show. */
const settleMs = 200;

function generationOf(status: RunStatus): number {
  return status.type === 'ended' ? status.generation : 0;
}

/** A run whose effects are counted: each stands for something that must not happen twice. */
async function openCounting(stage: Stage): Promise<{ readonly scene: Scene; readonly performed: Json[] }> {
  const performed: Json[] = [];
  const scene = await stage.open({
    program: async (durable, input) => [valueOf(await durable.call('pay', input)), durable.generation],
    effects: {
      pay: (input) => {
        performed.push(input);
        return done(input);
      },
    },
  });
  return { scene, performed };
}

const shapes: readonly EngineRule[] = [
  {
    name: 'joins parallel calls in the order in which they were made, whichever ends first',
    check: async (stage) => {
      const doors = [createDoor(), createDoor(), createDoor()];
      const positions: number[] = [];
      const scene = await stage.open({
        program: async (durable) =>
          (await Promise.all(doors.map((_, index) => durable.call('slow', index)))).map(valueOf),
        effects: {
          slow: async (input, { position }) => {
            positions[Number(input)] = position;
            await doors[Number(input)]?.opened;
            return done(`answer ${Number(input)}`);
          },
        },
      });
      await scene.start();
      await scene.until(() => Object.keys(positions).length === 3, 'The calls do not run at the same time.');
      for (const door of doors.toReversed()) {
        door.open();
        await scene.pass(10);
      }
      mustBe(await scene.result(), ['answer 0', 'answer 1', 'answer 2'], 'The answers are mixed up.');
      const isRising = positions.every(
        (position, index) => index === 0 || position > Number(positions[index - 1]),
      );
      must(isRising, `The positions are ${positions.join(', ')}: not those of the calls in their order.`);
    },
  },
  {
    name: 'lets no effect hand the program anything but JSON',
    check: async (stage) => {
      const live = { when: new Date(0) } as unknown as Json; // What no type stops at run time.
      const scene = await stage.open({
        program: async (durable) => kindOf(await durable.call('live', null)),
        effects: { live: () => done(live) },
      });
      await scene.start();
      const end = await scene.end();
      must(end.type === 'broken' || end.result !== 'live', 'The program got a Date from an effect.');
    },
  },
  {
    name: 'lets no program hand an effect anything but JSON',
    check: async (stage) => {
      const live = { when: new Date(0) } as unknown as Json; // As above.
      const seen: Json[] = [];
      const scene = await stage.open({
        program: async (durable) => toJson(await durable.call('look', live)),
        effects: {
          look: (input) => {
            seen.push(kindOf({ value: input }));
            return done(null);
          },
        },
      });
      await scene.start();
      await scene.end();
      must(!seen.includes('live'), 'The effect got a Date from the program.');
    },
  },
];

/** Every promise about starting and about single calls. */
export const callRules: readonly EngineRule[] = [...failing, ...starting, ...shapes];

function kindOf(outcome: object): Json {
  const value: unknown = Reflect.get(outcome, 'value');
  const when: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'when') : undefined;
  return when instanceof Date ? 'live' : 'plain';
}
