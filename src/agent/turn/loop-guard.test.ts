import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLoopRules, emptyLoopGuard, observeCalls } from './loop-guard.ts';
import type { LoopGuard, LoopVerdict, SettledCall } from './loop-guard.ts';

type Turn = readonly SettledCall[];

const call = (name: string, details: Partial<SettledCall> = {}): SettledCall => ({
  name,
  hash: `${name}()`,
  resultHash: 'same',
  isError: false,
  ...details,
});
const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

function watch(turns: readonly Turn[], rules = defaultLoopRules) {
  let guard: LoopGuard = emptyLoopGuard;
  const verdicts = turns.map((turn) => {
    const observed = observeCalls(guard, turn, rules);
    guard = observed.guard;
    return observed.verdict;
  });
  return { guard, verdicts, types: verdicts.map(({ type }) => type) };
}

const said = (verdicts: readonly LoopVerdict[]) =>
  verdicts.flatMap((verdict, index) =>
    verdict.type === 'fine' ? [] : [`${index + 1} ${verdict.type} ${verdict.pattern}`],
  );

describe('observeCalls() on a loop', () => {
  it.each([
    {
      name: 'one call again and again',
      turns: times(7, () => [call('search')]),
      expected: ['3 nudge repeat', '5 withdraw repeat', '7 stop repeat'],
    },
    {
      name: 'a withdrawn tool that now answers something else',
      turns: [
        ...times(5, () => [call('search')]),
        ...times(2, () => [call('search', { hash: '', resultHash: 'withdrawn', isError: true })]),
      ],
      expected: ['3 nudge repeat', '5 withdraw repeat', '7 stop repeat'],
    },
    {
      name: 'a withdrawn tool that is called with other arguments',
      turns: [
        ...times(5, () => [call('search')]),
        ...times(2, (index) => [
          call('search', { hash: `other ${index}`, resultHash: `no ${index}`, isError: true }),
        ]),
      ],
      expected: ['3 nudge repeat', '5 withdraw repeat', '7 stop repeat'],
    },
    {
      name: 'the same call five times in one turn, one step a turn',
      turns: times(3, () => times(5, () => call('search'))),
      expected: ['1 nudge repeat', '2 withdraw repeat', '3 stop repeat'],
    },
    {
      name: 'other calls in the same turn, which do not hide it',
      turns: times(7, (index) => [call('search'), call('write', { hash: `file ${index}` })]),
      expected: ['3 nudge repeat', '5 withdraw repeat', '7 stop repeat'],
    },
    {
      name: 'other failures in between, which are no progress',
      turns: times(14, (index) => [
        index % 2 === 0
          ? call('search')
          : call('write', { hash: `file ${index}`, resultHash: `error ${index}`, isError: true }),
      ]),
      expected: ['5 nudge repeat', '9 withdraw repeat', '13 stop repeat'],
    },
    {
      name: 'two calls in turn',
      turns: times(14, (index) => [call(index % 2 === 0 ? 'open' : 'close')]),
      expected: ['6 nudge ping-pong', '10 withdraw ping-pong', '14 stop ping-pong'],
    },
    {
      name: 'four calls in turn, for which the window is too short',
      turns: times(28, (index) => [call(`step ${index % 4}`)]),
      expected: ['12 nudge ping-pong', '20 withdraw ping-pong', '28 stop ping-pong'],
    },
    {
      name: 'five calls in turn, which are repeats',
      turns: times(35, (index) => [call(`step ${index % 5}`)]),
      expected: ['15 nudge repeat', '25 withdraw repeat', '35 stop repeat'],
    },
    {
      name: 'paraphrases that find nothing',
      turns: times(12, (index) => [call('search', { hash: `words ${index}`, isEmpty: true })]),
      expected: ['6 nudge no-progress', '10 withdraw no-progress', '12 stop no-progress'],
    },
    {
      name: 'varied arguments that fail alike',
      turns: times(12, (index) => [call('search', { hash: `words ${index}`, isError: true })]),
      expected: ['6 nudge no-progress', '10 withdraw no-progress', '12 stop no-progress'],
    },
    {
      name: 'a tool that allows two, and says so',
      turns: times(6, () => [call('poll', { repeats: 1 })]),
      expected: ['2 nudge repeat', '4 withdraw repeat', '6 stop repeat'],
    },
    {
      name: 'a tool that allows more than the window holds',
      turns: times(55, () => [call('poll', { repeats: 50 })]),
      expected: ['51 nudge repeat', '53 withdraw repeat', '55 stop repeat'],
    },
  ])('stops $name', ({ turns, expected }) => {
    expect(said(watch(turns).verdicts)).toEqual(expected);
  });

  it('names the tools, the count and the reason', () => {
    const { verdicts } = watch(times(6, (index) => [call(index % 2 === 0 ? 'open' : 'close')]));
    expect(verdicts.at(-1)).toEqual({
      type: 'nudge',
      pattern: 'ping-pong',
      tools: ['open', 'close'],
      count: 3,
      reason: 'The same calls of "open" and "close" were made in turn 3 times over, with the same results',
    });
  });

  it('goes on saying stop', () => {
    expect(watch(times(9, () => [call('search')])).types.slice(6)).toEqual(['stop', 'stop', 'stop']);
  });

  it('begins anew after progress', () => {
    const turns = [...times(4, () => [call('search')]), [call('write')], ...times(7, () => [call('search')])];
    expect(said(watch(turns).verdicts)).toEqual([
      '3 nudge repeat',
      '8 nudge repeat',
      '10 withdraw repeat',
      '12 stop repeat',
    ]);
  });
});

describe('observeCalls() on work', () => {
  it.each([
    { name: 'fifty files written', turns: times(50, (index) => [call('write', { hash: `file ${index}` })]) },
    {
      name: 'fifty files in one turn',
      turns: [times(50, (index) => call('write', { hash: `file ${index}` }))],
    },
    {
      name: 'the same test after every edit',
      turns: times(40, (index) => [
        index % 2 === 0 ? call('test', { isError: true }) : call('edit', { hash: `edit ${index}` }),
      ]),
    },
    {
      name: 'a poll whose result changes every second time',
      turns: times(40, (index) => [call('poll', { resultHash: String(Math.floor(index / 2)) })]),
    },
    {
      name: 'a poll that goes back and forth',
      turns: times(40, (index) => [call('poll', { resultHash: String(index % 2) })]),
    },
    { name: 'repeats within what the tool allows', turns: times(10, () => [call('poll', { repeats: 10 })]) },
    {
      name: 'a tool that may be repeated for ever',
      turns: times(99, () => [call('wait', { repeats: 'any' })]),
    },
    {
      name: 'vain calls of such a tool',
      turns: times(99, (index) => [call('wait', { repeats: 'any', isError: true, hash: String(index) })]),
    },
    { name: 'turns without calls', turns: times(99, () => []) },
  ])('lets $name pass', ({ turns }) => {
    expect(said(watch(turns).verdicts)).toEqual([]);
  });
});

describe('observeCalls() on anything', () => {
  const word = fc.constantFrom('a', 'b', 'c');
  const anyCall: fc.Arbitrary<SettledCall> = fc.record(
    {
      name: fc.oneof(word, fc.string({ maxLength: 300 })),
      hash: fc.oneof(word, fc.string({ maxLength: 300 })),
      resultHash: fc.oneof(word, fc.string({ maxLength: 300 })),
      isError: fc.boolean(),
      isEmpty: fc.boolean(),
      repeats: fc.oneof(fc.constant<'any'>('any'), fc.nat(20)),
    },
    { requiredKeys: ['name', 'hash', 'resultHash', 'isError'] },
  );
  const anyTurns = fc.array(fc.array(anyCall, { maxLength: 60 }), { maxLength: 30 });

  it('stays small, is JSON, and decides the same again', () => {
    fc.assert(
      fc.property(anyTurns, (turns) => {
        const first = watch(turns);
        expect(JSON.parse(JSON.stringify(first.guard))).toEqual(first.guard);
        expect(JSON.stringify(first.guard).length).toBeLessThan(24 * 1000);
        expect(first.guard.calls.length).toBeLessThanOrEqual(24);
        expect(watch(turns)).toEqual(first);
      }),
    );
  });

  it('goes on from a guard that was written and read again', () => {
    fc.assert(
      fc.property(anyTurns, fc.array(anyCall), (turns, next) => {
        const { guard } = watch(turns);
        const read = JSON.parse(JSON.stringify(guard)) as LoopGuard;
        expect(observeCalls(read, next, defaultLoopRules)).toEqual(
          observeCalls(guard, next, defaultLoopRules),
        );
      }),
    );
  });

  it('stops an endless repetition within ten calls, whatever came before', () => {
    fc.assert(
      fc.property(anyTurns, anyCall, (turns, { repeats: _, ...endless }) => {
        const { types } = watch([...turns, ...times(10, () => [endless])]);
        expect(types.slice(turns.length)).toContain('stop');
      }),
    );
  });

  it('never objects where every result differs', () => {
    fc.assert(
      fc.property(anyTurns, (turns) => {
        const differing = turns.map((turn, at) =>
          turn.map((one, index) => ({ ...one, resultHash: `${at}.${index}` })),
        );
        expect(said(watch(differing).verdicts)).toEqual([]);
      }),
    );
  });

  it('never takes two steps in one turn', () => {
    const steps = ['fine', 'nudge', 'withdraw', 'stop'];
    fc.assert(
      fc.property(anyTurns, (turns) => {
        const loops = times(turns.length, (index) => watch(turns.slice(0, index + 1)).guard.loop?.step ?? 0);
        const jumps = loops.filter((step, index) => step > (loops[index - 1] ?? 0) + 1);
        expect(jumps).toEqual([]);
        expect(steps).toEqual(expect.arrayContaining(watch(turns).types));
      }),
      { numRuns: 30 },
    );
  });
});
