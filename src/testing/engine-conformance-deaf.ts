import { isCancelled } from '../runtime/record/durable-errors.ts';
import { deaf } from '../runtime/record/durable.ts';
import type { DurableProgram, Effect } from '../runtime/record/durable.ts';
import { createDoor, done, mustBe, toJson } from './engine-conformance-scene.ts';
import type { EngineRule } from './engine-conformance-scene.ts';
import { must } from './model-conformance-probe.ts';

/** Long enough for whatever comes to come first. */
const timeoutMs = 200;

const take: Effect = (_, { pending }) => {
  const ids = pending('note').map(({ id }) => id);
  return { type: 'done', value: ids, took: ids };
};

/** Two calls that read no signals, one that does, and a wait. */
const deafThenHearing: DurableProgram = async (durable) => {
  await durable.call('knock', 'first', deaf);
  await durable.call('echo', 'second', deaf);
  const taken = await durable.call('take', null);
  const [go, note] = [
    await durable.waitFor('go', { timeoutMs }),
    await durable.waitFor('note', { timeoutMs }),
  ];
  return toJson([taken, go.type, note.type]);
};

/** Tells what came of a call that reads no signals. */
const deafAlone: DurableProgram = async (durable) => {
  try {
    const { type } = await durable.call('knock', null, deaf);
    await durable.call('echo', null, deaf);
    return type;
  } catch (error) {
    if (isCancelled(error)) return 'cancelled';
    throw error;
  }
};

/** Stays until it is told to stop, and tells how often it was performed. */
function obedient(): { readonly effect: Effect; readonly count: () => number } {
  let performed = 0;
  const effect: Effect = async (_, { signal }) => {
    performed += 1;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return done('stopped');
  };
  return { effect, count: () => performed };
}

/** Every promise about calls whose effects read no signals. */
export const deafRules: readonly EngineRule[] = [
  {
    name: 'keeps what comes during a deaf call for the next effect that reads signals, and for the next wait',
    check: async (stage) => {
      const door = createDoor();
      let isThere = false;
      const knock: Effect = async () => {
        isThere = true;
        await door.opened;
        return done(null);
      };
      const scene = await stage.open({
        program: deafThenHearing,
        effects: { knock, take, echo: (input) => done(input) },
      });
      await scene.start();
      await scene.until(() => isThere, 'The effect is not performed.');
      await scene.signal('note', 'n-1');
      await scene.signal('go', 'go-1');
      await scene.signal('note', 'n-2');
      // An engine may take a while to bring what it has accepted.
      await scene.pass(200);
      door.open();
      const expected = [done(['n-1', 'n-2']), 'signalled', 'timed-out'];
      mustBe(await scene.result(), toJson(expected), 'The signals were not there.');
    },
  },
  {
    name: 'keeps what came during a deaf call across a crash',
    needs: 'reopen',
    check: async (stage) => {
      let performed = 0;
      const knock: Effect = async () => {
        performed += 1;
        if (performed === 1) await new Promise(() => undefined);
        return done(null);
      };
      const scene = await stage.open({
        program: deafThenHearing,
        effects: { knock, take, echo: (input) => done(input) },
      });
      await scene.start();
      await scene.until(() => performed === 1, 'The effect is not performed.');
      await scene.signal('note', 'n-1');
      await scene.signal('go', 'go-1');
      await scene.crash();
      const expected = [done(['n-1']), 'signalled', 'timed-out'];
      mustBe(await scene.result(), toJson(expected), 'The signals were not there.');
    },
  },
  {
    name: 'tells the effect of a deaf call that it is cancelled, and performs no further one',
    check: async (stage) => {
      const knock = obedient();
      let echoed = 0;
      const echo: Effect = (input) => {
        echoed += 1;
        return done(input);
      };
      const scene = await stage.open({ program: deafAlone, effects: { knock: knock.effect, echo } });
      await scene.start();
      await scene.until(() => knock.count() === 1, 'The effect is not performed.');
      // What came before must not stand in the way.
      await scene.signal('note', 'n-1');
      await scene.cancel();
      mustBe(await scene.result(), 'cancelled', 'It went on.');
      must(echoed === 0, 'An effect was performed after the cancellation.');
    },
  },
  {
    name: 'remembers across a crash that a deaf call was cancelled',
    needs: 'reopen',
    check: async (stage) => {
      let performed = 0;
      const knock: Effect = () => {
        performed += 1;
        return new Promise(() => undefined);
      };
      const scene = await stage.open({
        program: deafAlone,
        effects: { knock, echo: (input) => done(input) },
      });
      await scene.start();
      await scene.until(() => performed === 1, 'The effect is not performed.');
      await scene.cancel();
      await scene.crash();
      mustBe(await scene.result(), 'cancelled', 'It was forgotten.');
      must(performed === 1, 'An effect was performed after the cancellation.');
    },
  },
];
