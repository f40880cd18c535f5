import { describe, expect, it } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import type { RunOutcome, Tool } from '../../src/index.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { calling, expectType, resultsIn, watchedModel, watchEverything } from './scene.ts';

// Threads know nothing of a simulated clock, so these take real time: bounds are wide, and nothing is measured tightly.

watchEverything();

const about = { description: 'Runs in a thread of its own.', input: { type: 'object' } } as const;

function runOnce(tools: readonly Tool[], name: string): Promise<RunOutcome> {
  const model = watchedModel([calling(name, { n: 20 }), 'Done.']);
  const agent = createAgent({ model, tools, gates: createGates(), limits: { maxToolAttempts: 1 } });
  return agent.run('Compute.');
}

describe('an isolated tool', () => {
  it('that spins is ended at its timeout, while the process stays alive', async () => {
    const spin = tool({
      ...about,
      name: 'spin',
      effect: 'read',
      timeoutMs: 300,
      isolate: true,
      execute: () => {
        for (;;);
      },
    });
    let ticks = 0;
    const timer = setInterval(() => void (ticks += 1), 10);
    const outcome = expectType(await runOnce([spin], 'spin'), 'completed');
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
    expect(resultsIn(outcome.messages)[0]).toContain('300 ms');
  });

  it('that fills its heap fails alone', async () => {
    const fill = tool({
      ...about,
      name: 'fill',
      effect: 'read',
      timeoutMs: 60_000,
      isolate: true,
      execute: () => {
        const kept: string[][] = [];
        for (;;) kept.push('x,'.repeat(1_000_000).split(','));
      },
    });
    const outcome = expectType(await runOnce([fill], 'fill'), 'completed');
    expect(resultsIn(outcome.messages)[0]).toMatch(/memory|heap/i);
  });

  it.each([
    { form: 'a function', isolate: true as const },
    {
      form: 'a module',
      isolate: {
        module: `data:text/javascript,${encodeURIComponent('export const square = ({ n }) => n * n;')}`,
        export: 'square',
      },
    },
  ])('of $form gives its result', async ({ isolate }) => {
    const square =
      isolate === true
        ? tool({
            ...about,
            name: 'square',
            isolate,
            execute: (input) => Number(input['n']) * Number(input['n']),
          })
        : tool({ ...about, name: 'square', isolate });
    const outcome = expectType(await runOnce([square], 'square'), 'completed');
    expect(resultsIn(outcome.messages)).toEqual(['400']);
  });
});
