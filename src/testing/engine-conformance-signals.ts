import type { Json } from '../base/json.ts';
import type { DurableProgram } from '../runtime/record/durable.ts';
import { createDoor, done, mustBe, toJson } from './engine-conformance-scene.ts';
import type { EngineRule } from './engine-conformance-scene.ts';
import { must } from './model-conformance-probe.ts';

/** Long enough for whatever comes to come first. */
const timeoutMs = 200;

/** Takes one signal after the other until none comes. */
const collect: DurableProgram = async (durable) => {
  const ids: Json[] = [];
  for (let taken = 0; taken < 10; taken += 1) {
    const signal = await durable.waitFor('go', { timeoutMs });
    if (signal.type === 'timed-out') break;
    ids.push([signal.id, signal.payload]);
  }
  return ids;
};

/** Performs an effect that waits at the door, and then waits for a signal. */
const callThenWait: DurableProgram = async (durable) => {
  await durable.call('knock', null);
  return toJson(await durable.waitFor('approval', { timeoutMs: 10_000 }));
};

const approved: Json = { type: 'signalled', id: 'yes-1', payload: { verdict: 'yes' } };

const delivery: readonly EngineRule[] = [
  {
    name: 'keeps a signal that comes before anybody waits for it',
    check: async (stage) => {
      const door = createDoor();
      let isThere = false;
      const scene = await stage.open({
        program: callThenWait,
        effects: {
          knock: async () => {
            isThere = true;
            await door.opened;
            return done(null);
          },
        },
      });
      await scene.start();
      await scene.until(() => isThere, 'The effect is not performed.');
      await scene.signal('approval', 'yes-1', { verdict: 'yes' });
      door.open();
      mustBe(await scene.result(), approved, 'The signal was lost.');
    },
  },
  {
    name: 'keeps a signal that it has accepted across a crash',
    needs: 'reopen',
    check: async (stage) => {
      const door = createDoor();
      let performed = 0;
      const scene = await stage.open({
        program: callThenWait,
        effects: {
          knock: async () => {
            performed += 1;
            await door.opened;
            return done(null);
          },
        },
      });
      await scene.start();
      await scene.until(() => performed === 1, 'The effect is not performed.');
      await scene.signal('approval', 'yes-1', { verdict: 'yes' });
      await scene.crash();
      await scene.until(() => performed === 2, 'What was in progress was lost.');
      door.open();
      mustBe(await scene.result(), approved, 'The signal was lost in the crash.');
    },
  },
  {
    name: 'delivers a signal that came while no engine was there',
    needs: 'reopen',
    check: async (stage) => {
      const scene = await stage.open({ program: callThenWait, effects: { knock: () => done(null) } });
      await scene.start();
      await scene.waitsFor('approval');
      await scene.crash({ signals: [{ name: 'approval', id: 'yes-1', payload: { verdict: 'yes' } }] });
      mustBe(await scene.result(), approved, 'The signal was lost.');
    },
  },
  {
    name: 'gives signals in the order in which they came, each once',
    check: async (stage) => {
      const door = createDoor();
      const scene = await stage.open({
        program: async (durable, input) => {
          await durable.call('knock', null);
          return collect(durable, input);
        },
        effects: { knock: door.passed },
      });
      await scene.start();
      for (const id of ['a', 'b', 'c']) await scene.signal('go', id, `payload ${id}`);
      door.open();
      const expected = [
        ['a', 'payload a'],
        ['b', 'payload b'],
        ['c', 'payload c'],
      ];
      mustBe(await scene.result(), expected, 'The signals are not as they came.');
    },
  },
  {
    name: 'wakes whoever waits for that signal, and nobody else',
    check: async (stage) => {
      const scene = await stage.open({
        program: async (durable) => toJson(await durable.waitFor('wanted')),
      });
      await scene.start();
      await scene.waitsFor('wanted');
      await scene.signal('other', 'no-1');
      await scene.pass(50);
      await scene.waitsFor('wanted');
      await scene.signal('wanted', 'yes-1', 7);
      mustBe(
        await scene.result(),
        { type: 'signalled', id: 'yes-1', payload: 7 },
        'It was the wrong signal.',
      );
    },
  },
];

const repeats: readonly EngineRule[] = [
  {
    name: 'delivers a signal once, however often it is sent',
    check: async (stage) => {
      // Nobody waits before the first one is there: a wait ends by itself, also on a machine that is busy with something else.
      const door = createDoor();
      const scene = await stage.open({
        program: async (durable, input) => {
          await durable.call('knock', null);
          return collect(durable, input);
        },
        effects: { knock: door.passed },
      });
      await scene.start();
      await scene.signal('go', 'same', 1);
      await scene.signal('go', 'same', 1);
      door.open();
      await scene.pass(20);
      await scene.signal('go', 'same', 1);
      mustBe(await scene.result(), [['same', 1]], 'A signal was delivered again.');
    },
  },
  {
    name: 'delivers a signal once, also when it is sent again after a crash',
    needs: 'reopen',
    check: async (stage) => {
      const scene = await stage.open({
        program: async (durable, input) => {
          await durable.waitFor('go');
          await durable.waitFor('on');
          return collect(durable, input);
        },
      });
      await scene.start();
      await scene.waitsFor('go');
      await scene.signal('go', 'same');
      await scene.waitsFor('on');
      await scene.crash({ signals: [{ name: 'go', id: 'same', payload: null }] });
      await scene.signal('go', 'same');
      await scene.signal('on', 'on-1');
      mustBe(await scene.result(), [], 'A signal was delivered again after the crash.');
    },
  },
];

const timeouts: readonly EngineRule[] = [
  {
    name: 'ends a wait at its timeout',
    check: async (stage) => {
      const scene = await stage.open({
        program: async (durable) => toJson(await durable.waitFor('never', { timeoutMs: 50 })),
      });
      await scene.start();
      mustBe(await scene.result(), { type: 'timed-out' }, 'The wait came to something else.');
    },
  },
  {
    name: 'remembers a timeout across a crash, whatever comes later',
    needs: 'reopen',
    check: async (stage) => {
      const scene = await stage.open({
        program: async (durable) => {
          const first = await durable.waitFor('early', { timeoutMs: 50 });
          await durable.waitFor('go');
          const second = await durable.waitFor('early', { timeoutMs });
          return [first.type, second.type];
        },
      });
      await scene.start();
      await scene.waitsFor('go');
      await scene.crash({ signals: [{ name: 'early', id: 'late-1', payload: null }] });
      await scene.signal('go', 'go-1');
      mustBe(await scene.result(), ['timed-out', 'signalled'], 'What was over was changed afterwards.');
    },
  },
];

const taking: readonly EngineRule[] = [
  {
    name: 'shows effects the signals that nobody has taken, and removes what they took',
    check: async (stage) => {
      const scene = await stage.open({
        program: async (durable) => {
          await durable.waitFor('go');
          const first = await durable.call('take', null);
          const second = await durable.call('take', null);
          const left = await durable.waitFor('note', { timeoutMs });
          return toJson([first, second, left.type]);
        },
        effects: {
          take: (_, { pending }) => {
            const found = pending('note').map(({ id, payload }) => [id, payload]);
            return { type: 'done', value: found, took: pending('note').map(({ id }) => id) };
          },
        },
      });
      await scene.start();
      await scene.waitsFor('go');
      await scene.signal('note', 'n-1', 'first');
      await scene.signal('note', 'n-2', 'second');
      await scene.signal('go', 'go-1');
      const expected = [
        done([
          ['n-1', 'first'],
          ['n-2', 'second'],
        ]),
        done([]),
        'timed-out',
      ];
      mustBe(await scene.result(), toJson(expected), 'The signals that an effect took are not gone.');
    },
  },
  {
    name: 'does not bring back after a crash what an effect took',
    needs: 'reopen',
    check: async (stage) => {
      let performed = 0;
      const scene = await stage.open({
        program: async (durable) => {
          await durable.waitFor('go');
          await durable.call('take', null);
          await durable.waitFor('on');
          return (await durable.waitFor('note', { timeoutMs })).type;
        },
        effects: {
          take: (_, { pending }) => {
            performed += 1;
            return { type: 'done', value: null, took: pending('note').map(({ id }) => id) };
          },
        },
      });
      await scene.start();
      await scene.waitsFor('go');
      await scene.signal('note', 'n-1');
      await scene.signal('go', 'go-1');
      await scene.waitsFor('on');
      await scene.crash();
      await scene.signal('note', 'n-1');
      await scene.signal('on', 'on-1');
      mustBe(await scene.result(), 'timed-out', 'A signal that was taken came back.');
      must(performed === 1, 'The effect that took it was performed again.');
    },
  },
];

/** Every promise about signals. */
export const signalRules: readonly EngineRule[] = [...delivery, ...repeats, ...timeouts, ...taking];
