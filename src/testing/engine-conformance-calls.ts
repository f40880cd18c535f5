import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import type { Effect } from '../runtime/durable.ts';
import { createDoor, done, mustBe, toJson, valueOf } from './engine-conformance-scene.ts';
import type { EngineRule } from './engine-conformance-scene.ts';
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
      await scene.start('new');
      await scene.until(
        async () => JSON.stringify(await scene.status()).includes('new'),
        'It did not start again.',
      );
      mustBe(await scene.result(), ['new', 2, 'new'], 'The second generation is wrong.');
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
