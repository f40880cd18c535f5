import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureCode } from '../errors/codes.ts';
import {
  isToolOutage,
  noToolBreakers,
  observeTool,
  toolBreakerPolicy,
  withdrawnTools,
} from './tool-breaker.ts';
import type { ObservedEnd, ToolBreakers } from './tool-breaker.ts';

const failed = (code: FailureCode, name = 'search'): ObservedEnd => ({
  name,
  type: 'failed',
  failure: { code },
});
const ok: ObservedEnd = { name: 'search', type: 'ok' };
const down = failed('TIMEOUT');

function after(ends: readonly ObservedEnd[], start: ToolBreakers = noToolBreakers, nowMs = 0): ToolBreakers {
  return ends.reduce((breakers, end) => observeTool(breakers, { end, nowMs }), start);
}

const times = (count: number, end: ObservedEnd): readonly ObservedEnd[] =>
  Array.from({ length: count }, () => end);

describe('the breaker of a tool', () => {
  it.each<{
    readonly name: string;
    readonly ends: readonly ObservedEnd[];
    readonly withdrawn: readonly string[];
  }>([
    { name: 'withdraws it after five outages in a row', ends: times(5, down), withdrawn: ['search'] },
    {
      name: 'counts outages of several kinds together',
      ends: (['TIMEOUT', 'NETWORK_ERROR', 'SERVER_ERROR', 'RATE_LIMITED', 'IO_ERROR'] as const).map((code) =>
        failed(code),
      ),
      withdrawn: ['search'],
    },
    {
      name: 'counts a call that nobody saw the end of',
      ends: times(5, { name: 'search', type: 'unknown', failure: { code: 'UNKNOWN_OUTCOME' } }),
      withdrawn: ['search'],
    },
    {
      name: 'is not reset by a call that says nothing about the tool',
      ends: [...times(4, down), failed('VALIDATION_ERROR'), { name: 'search', type: 'denied' }, down],
      withdrawn: ['search'],
    },
    { name: 'leaves it at four', ends: times(4, down), withdrawn: [] },
    {
      name: 'starts again after one that worked',
      ends: [...times(4, down), ok, ...times(4, down)],
      withdrawn: [],
    },
    {
      name: 'starts again after a hint, for then the tool has answered',
      ends: [...times(4, down), { name: 'search', type: 'retry' }, down],
      withdrawn: [],
    },
    { name: 'does not count bad arguments', ends: times(50, failed('VALIDATION_ERROR')), withdrawn: [] },
    {
      name: 'does not count a tool that threw',
      ends: times(50, failed('TOOL_EXECUTION_ERROR')),
      withdrawn: [],
    },
    {
      name: 'does not count a no',
      ends: times(50, { ...failed('PERMISSION_DENIED'), type: 'denied' }),
      withdrawn: [],
    },
    {
      name: 'counts each tool for itself, whatever it is called',
      ends: [...times(4, down), ...times(5, failed('TIMEOUT', '__proto__'))],
      withdrawn: ['__proto__'],
    },
  ])('$name', ({ ends, withdrawn }) => {
    expect(withdrawnTools(after(ends), 1).map(({ name }) => name)).toEqual(withdrawn);
  });

  it('comes back for a probe, for longer after each that fails, up to five minutes', () => {
    let breakers = after(times(5, down));
    let nowMs = 0;
    const pausesMs: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const [withdrawn] = withdrawnTools(breakers, nowMs);
      const untilMs = withdrawn?.untilMs ?? NaN;
      pausesMs.push(untilMs - nowMs);
      expect(withdrawnTools(breakers, untilMs - 1)).toHaveLength(1);
      expect(withdrawnTools(breakers, untilMs)).toEqual([]);
      nowMs = untilMs;
      breakers = after([down], breakers, nowMs);
    }
    expect(pausesMs).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
  });

  it('is closed by a probe that succeeds, and then counts from the beginning', () => {
    const back = after([ok], after(times(5, down)), 30_000);
    expect(back).toEqual({});
    expect(withdrawnTools(after(times(4, down), back, 30_001), 30_002)).toEqual([]);
  });

  it('takes several failures of one moment for one probe', () => {
    const reopened = after(times(3, down), after(times(5, down)), 30_000);
    expect(withdrawnTools(reopened, 30_000)[0]?.untilMs).toBe(90_000);
  });

  it('says why, in words for the model', () => {
    const open = after(times(5, down));
    expect(withdrawnTools(open, 0)[0]?.reason).toBe('it was down 5 times in a row; it comes back in 30 s');
    expect(withdrawnTools(after([down], open, 30_000), 30_000)[0]?.reason).toBe(
      'it is still down after 1 more try; it comes back in 60 s',
    );
  });

  it('keeps the very state where nothing was learnt', () => {
    const breakers = after(times(2, down));
    expect(after([failed('VALIDATION_ERROR'), { ...ok, name: 'other' }], breakers)).toBe(breakers);
  });

  it('is JSON, never withdraws longer than its bound, and always yields to a success', () => {
    const ends = fc.constantFrom(
      ok,
      down,
      failed('NOT_FOUND'),
      failed('IO_ERROR'),
      failed('VALIDATION_ERROR'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(ends, fc.nat(400_000)), { maxLength: 60 }), (steps) => {
        let breakers = noToolBreakers;
        let nowMs = 0;
        for (const [end, pauseMs] of steps) {
          nowMs += pauseMs;
          breakers = observeTool(breakers, { end, nowMs });
          for (const { untilMs } of withdrawnTools(breakers, nowMs)) {
            expect(untilMs - nowMs).toBeLessThanOrEqual(toolBreakerPolicy.maxOpenMs);
          }
        }
        expect(JSON.parse(JSON.stringify(breakers))).toEqual(breakers);
        expect(observeTool(breakers, { end: ok, nowMs })).toEqual({});
      }),
    );
  });
});

describe('isToolOutage()', () => {
  it.each<{ readonly code: FailureCode; readonly outage: boolean }>([
    { code: 'VALIDATION_ERROR', outage: false },
    { code: 'NOT_FOUND', outage: false },
    { code: 'TOOL_EXECUTION_ERROR', outage: false },
    { code: 'CANCELLED', outage: false },
    { code: 'TIMEOUT', outage: true },
    { code: 'IO_ERROR', outage: true },
    { code: 'AUTHENTICATION_ERROR', outage: true },
  ])('$code: $outage', ({ code, outage }) => {
    expect(isToolOutage(code)).toBe(outage);
  });
});
