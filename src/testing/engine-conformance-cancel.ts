import { setImmediate } from 'node:timers/promises';
import { isCancelled } from '../runtime/record/durable-errors.ts';
import type { Durable, DurableProgram, Effect } from '../runtime/record/durable.ts';
import { createDoor, done, mustBe, toJson } from './engine-conformance-scene.ts';
import type { EngineRule, Scene } from './engine-conformance-scene.ts';
import { must } from './model-conformance-probe.ts';

const hourMs = 3_600_000;

/** Begins, and tells how the verb it was cancelled in ended, and how the next one did. */
function telling(verb: (durable: Durable) => Promise<unknown>): DurableProgram {
  return async (durable) => {
    await durable.call('begin', null);
    const during = await endOf(() => verb(durable));
    const after = await endOf(() => durable.sleep(hourMs));
    return toJson({ during, after });
  };
}

async function endOf(verb: () => Promise<unknown>): Promise<unknown> {
  try {
    return (await verb()) ?? 'nothing';
  } catch (error) {
    return isCancelled(error) ? 'cancelled' : `another error: ${String(error)}`;
  }
}

interface Begun {
  readonly program: DurableProgram;
  readonly effects?: Readonly<Record<string, Effect>>;
}

/** A scene whose program has come to the verb that follows its first call. */
async function begun(
  stage: Parameters<EngineRule['check']>[0],
  { program, effects = {} }: Begun,
): Promise<Scene> {
  let hasBegun = false;
  const begin: Effect = () => {
    hasBegun = true;
    return done(null);
  };
  const scene = await stage.open({ program, effects: { ...effects, begin } });
  await scene.start();
  await scene.until(() => hasBegun, 'The program does not begin.');
  await scene.pass(30);
  return scene;
}

const waiting: readonly EngineRule[] = [
  {
    name: 'cancels a run that sleeps, and lets it return a last value',
    check: async (stage) => {
      const scene = await begun(stage, { program: telling((durable) => durable.sleep(hourMs)) });
      await scene.cancel();
      mustBe(await scene.result(), { during: 'cancelled', after: 'cancelled' }, 'It went on.');
    },
  },
  {
    name: 'cancels a run that waits for a signal',
    check: async (stage) => {
      const scene = await begun(stage, { program: telling((durable) => durable.waitFor('never')) });
      await scene.waitsFor('never');
      await scene.cancel();
      mustBe(await scene.result(), { during: 'cancelled', after: 'cancelled' }, 'It went on.');
    },
  },
  {
    name: 'calls a run broken, with the code CANCELLED, whose program does not catch it',
    check: async (stage) => {
      const scene = await begun(stage, {
        program: async (durable) => {
          await durable.call('begin', null);
          await durable.sleep(hourMs);
          return 'slept';
        },
      });
      await scene.cancel();
      const end = await scene.end();
      const code = end.type === 'broken' ? end.failure.code : end.type;
      must(code === 'CANCELLED', `The run is told as ${code}.`);
    },
  },
  {
    name: 'changes nothing about a run that has ended',
    check: async (stage) => {
      const scene = await begun(stage, {
        program: (durable) => durable.call('begin', null).then(() => 'done'),
      });
      mustBe(await scene.result(), 'done', 'The run came to something else.');
      await scene.cancel();
      mustBe(await scene.result(), 'done', 'A cancellation that came too late changed the result.');
    },
  },
];

const inEffect: readonly EngineRule[] = [
  {
    name: 'tells an effect in progress of the cancellation, and waits for what came of it',
    check: async (stage) => {
      const obedient: Effect = async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        // Tidying up takes a while, and no clock.
        for (let turn = 0; turn < 10; turn += 1) await setImmediate();
        return done('stopped half way');
      };
      const scene = await begun(stage, {
        program: telling((durable) => durable.call('obedient', null)),
        effects: { obedient },
      });
      await scene.cancel();
      const expected = { during: done('stopped half way'), after: 'cancelled' };
      mustBe(await scene.result(), toJson(expected), 'The outcome of the effect was thrown away.');
    },
  },
  {
    name: 'does not wait for an effect that is deaf to the cancellation',
    check: async (stage) => {
      const door = createDoor();
      const scene = await begun(stage, {
        program: telling((durable) => durable.call('deaf', null)),
        effects: { deaf: door.passed },
      });
      await scene.cancel();
      mustBe(await scene.result(), { during: 'cancelled', after: 'cancelled' }, 'It went on.');
      door.open();
      await scene.pass(50);
      mustBe(await scene.result(), { during: 'cancelled', after: 'cancelled' }, 'It changed afterwards.');
    },
  },
  {
    name: 'remembers a cancellation across a crash, and performs no effect after it',
    needs: 'reopen',
    check: async (stage) => {
      let performed = 0;
      const scene = await begun(stage, {
        program: telling((durable) => durable.call('deaf', null)),
        effects: {
          deaf: () => {
            performed += 1;
            return new Promise(() => undefined);
          },
        },
      });
      await scene.cancel();
      await scene.crash();
      mustBe(await scene.result(), { during: 'cancelled', after: 'cancelled' }, 'It was forgotten.');
      must(performed === 1, 'An effect was performed after the cancellation.');
    },
  },
];

/** Every promise about cancelling. */
export const cancelRules: readonly EngineRule[] = [...waiting, ...inEffect];
