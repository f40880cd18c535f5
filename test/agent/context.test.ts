import { describe, expect, it } from 'vitest';
import { createFailure } from '../../src/errors/index.ts';
import type { RunEvent } from '../../src/index.ts';
import type { ScriptStep } from '../../src/testing/index.ts';
import { tool } from '../../src/index.ts';
import { setScene, watchEverything } from './scene.ts';

// What the model is shown when a conversation grows too long for its window. That the history is valid at every call is checked
// by the scene itself.

watchEverything();

const page = 'The quick brown fox jumps over the lazy dog. '.repeat(120);
const read = tool({
  name: 'read',
  description: 'Reads a page.',
  input: { type: 'object', properties: { page: { type: 'number' } } },
  effect: 'read',
  execute: () => page,
});

/** Reads so many pages, one after the other, and answers; asked for a summary it gives one, or fails. */
function reader(pages: number, summary?: ScriptStep): ScriptStep {
  let turn = 0;
  return (request, index) => {
    const isSummary = JSON.stringify(request.messages.at(-1)).includes('<record>');
    if (isSummary) {
      if (typeof summary === 'function') return summary(request, index);
      return summary ?? 'The user wants all pages read. So far the pages were about foxes.';
    }
    turn += 1;
    return turn <= pages ? { toolCalls: [{ name: 'read', arguments: { page: turn } }] } : 'All read.';
  };
}

/** A conversation of twenty pages, as a script. */
function reading(summary?: ScriptStep): readonly ScriptStep[] {
  const step = reader(20, summary);
  return Array.from({ length: 80 }, () => step);
}

/** Reading page after page is no loop here. */
const patient = { loop: { nudgeAt: 100, withdrawAt: 101, stopAt: 102 } };

const compactions = (
  events: readonly RunEvent[],
): readonly Extract<RunEvent, { type: 'history-compacted' }>[] =>
  events.filter((event) => event.type === 'history-compacted');

const sizes = (
  calls: readonly { readonly request: { readonly messages: readonly unknown[] } }[],
): readonly number[] => calls.map(({ request }) => JSON.stringify(request.messages).length);

describe('a conversation that outgrows its window', () => {
  it.each([
    { strategy: 'clear-results', expected: 'clear-results' },
    { strategy: 'window', expected: 'window' },
    { strategy: 'summary', expected: 'summary' },
    { strategy: ['clear-results', 'summary'], expected: 'clear-results' },
  ] as const)('is kept within it by $strategy, before the model is asked', async ({ strategy, expected }) => {
    const scene = setScene({
      script: reading(),
      tools: [read],
      context: { maxTokens: 8000, reserveTokens: 1000, strategy },
      policy: patient,
    });
    const outcome = await scene.run('Read all pages');
    expect(outcome).toMatchObject({ type: 'completed', text: 'All read.' });
    const told = compactions(scene.events);
    expect(told.length).toBeGreaterThan(0);
    expect(new Set(told.map((event) => event.strategy))).toEqual(new Set([expected]));
    expect(Math.max(...sizes(scene.model.calls))).toBeLessThan(8000 * 6);
    expect(
      told.every(({ why, tokensBefore, tokensAfter }) => why === 'budget' && tokensAfter < tokensBefore),
    ).toBe(true);
  });

  it('is truncated where the summary fails, and says so', async () => {
    const failing: ScriptStep = {
      failure: createFailure('INVALID_REQUEST', { message: 'No summaries here' }),
    };
    const scene = setScene({
      script: reading(failing),
      tools: [read],
      context: { maxTokens: 8000, reserveTokens: 1000, strategy: 'summary' },
      policy: patient,
    });
    const outcome = await scene.run('Read all pages');
    expect(outcome).toMatchObject({ type: 'completed' });
    expect(compactions(scene.events)[0]).toMatchObject({
      strategy: 'truncate',
      failure: { code: 'COMPACTION_FAILED' },
    });
  });

  it('keeps what the user has pinned, and what he asked first', async () => {
    const scene = setScene({
      script: reading(),
      tools: [read],
      context: { maxTokens: 8000, reserveTokens: 1000, strategy: 'window' },
      policy: patient,
    });
    const pinned = { role: 'user', content: 'Never delete anything.', pinned: true } as const;
    const outcome = await scene.run([
      { role: 'user', content: 'Read all pages' },
      { role: 'assistant', content: 'I will.' },
      pinned,
    ]);
    expect(outcome).toMatchObject({ type: 'completed' });
    const last = scene.model.calls.at(-1)?.request.messages ?? [];
    expect(compactions(scene.events).length).toBeGreaterThan(0);
    expect(last).toContainEqual({ role: 'user', content: 'Read all pages' });
    expect(last).toContainEqual(pinned);
  });

  it('that the provider refuses is made shorter once and sent again, with a summary where that is wished for', async () => {
    let refusals = 0;
    const step = reader(8);
    const script: ScriptStep = (request, index) => {
      const isTooLong = JSON.stringify(request.messages).length > 30_000;
      if (isTooLong) refusals += 1;
      if (isTooLong) return { failure: 'CONTEXT_LENGTH_EXCEEDED' };
      return typeof step === 'function' ? step(request, index) : step;
    };
    const scene = setScene({
      script: Array.from({ length: 80 }, () => script),
      tools: [read],
      context: { strategy: 'summary' },
      policy: patient,
    });
    const outcome = await scene.run('Read all pages');
    expect(outcome).toMatchObject({ type: 'completed', text: 'All read.' });
    expect(compactions(scene.events)).toHaveLength(refusals);
    expect(compactions(scene.events)[0]).toMatchObject({ why: 'overflow', strategy: 'summary' });
    expect(outcome.recoveries).toMatchObject(
      Array.from({ length: refusals }, () => ({ recovery: 'compact' })),
    );
  });
});
