import { done, mustBe, valueOf } from './engine-conformance-scene.ts';
import type { EngineRule, Scene, Stage } from './engine-conformance-scene.ts';
import { must } from './model-conformance-probe.ts';

const largeCharacters = 300_000;

/** Every promise about how much an engine carries. */
export const volumeRules: readonly EngineRule[] = [
  {
    name: 'keeps a journal that grows with the calls and not with their square',
    needs: 'journal-bytes',
    check: async (stage) => {
      const half = await (await counted(stage, 500)).journalBytes();
      const whole = await (await counted(stage, 1000)).journalBytes();
      must(half > 0, 'The journal of 500 calls takes up nothing.');
      must(whole < half * 2.5, `500 calls take up ${half} bytes, but 1,000 take up ${whole}.`);
    },
  },
  {
    name: 'carries a thousand calls',
    check: async (stage) => {
      const scene = await counted(stage, 1000);
      mustBe(await scene.result(), 499_500, 'The sum of a thousand calls is wrong.');
    },
  },
  {
    name: 'carries a large value there and back, and across a crash',
    needs: 'reopen',
    check: async (stage) => {
      const large = 'ä'.repeat(largeCharacters);
      const scene = await stage.open({
        program: async (durable, input) => {
          const echoed = valueOf(await durable.call('echo', input));
          const signal = await durable.waitFor('go');
          const payload = signal.type === 'signalled' ? signal.payload : null;
          return [echoed, payload];
        },
        effects: { echo: (input) => done(input) },
      });
      await scene.start(large);
      await scene.waitsFor('go');
      await scene.crash();
      await scene.signal('go', 'go-1', large);
      mustBe(await scene.result(), [large, large], 'A large value did not arrive whole.');
    },
  },
];

/** A run that has made so many calls and ended. */
async function counted(stage: Stage, calls: number): Promise<Scene> {
  const scene = await stage.open({
    program: async (durable) => {
      let sum = 0;
      for (let index = 0; index < calls; index += 1)
        sum += Number(valueOf(await durable.call('echo', index)));
      return sum;
    },
    effects: { echo: (input) => done(input) },
  });
  await scene.start();
  await scene.end();
  return scene;
}
