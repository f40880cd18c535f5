import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admit, closedBreaker, defaultBreakerPolicy, forceOpen, observe } from './breaker.ts';
import type { Breaker, Health } from './breaker.ts';

const policy = defaultBreakerPolicy;

function after(healths: readonly Health[], start: Breaker = closedBreaker): Breaker {
  return healths.reduce((breaker, health) => observe(breaker, { health, nowMs: 0 }, policy), start);
}

const times = (count: number, health: Health): readonly Health[] => Array<Health>(count).fill(health);

describe('the breaker', () => {
  it.each([
    ['opens after ten failures in a row', times(10, 'down'), 'open'],
    ['does not open on nine', times(9, 'down'), 'closed'],
    [
      'opens after a long good time when nearly all fail',
      [...times(100, 'working'), ...times(18, 'down')],
      'open',
    ],
    [
      'stays closed when half fail',
      times(50, 'down').flatMap((down): Health[] => [down, 'working']),
      'closed',
    ],
    ['learns nothing from what was called off', times(50, 'none'), 'closed'],
  ])('%s', (_name, healths, type) => {
    expect(after(healths).type).toBe(type);
  });

  it('lets exactly one through when its time has come', () => {
    const open = after(times(10, 'down'));
    expect(admit(open, { nowMs: policy.openMs - 1, probe: 1 }).admission).toEqual({
      type: 'closed-off',
      untilMs: policy.openMs,
    });
    const first = admit(open, { nowMs: policy.openMs, probe: 1 });
    expect(first.admission.type).toBe('probe');
    expect(admit(first.breaker, { nowMs: policy.openMs, probe: 1 }).admission).toEqual({
      type: 'closed-off',
    });
  });

  it('closes when the probe succeeds, and waits twice as long when it fails, up to its bound', () => {
    let breaker = after(times(10, 'down'));
    const pausesMs: number[] = [];
    for (let probe = 0; probe < 6 && breaker.type === 'open'; probe += 1) {
      const nowMs: number = breaker.untilMs;
      breaker = observe(
        admit(breaker, { nowMs, probe: 1 }).breaker,
        { health: 'down', probe: 1, nowMs },
        policy,
      );
      if (breaker.type === 'open') pausesMs.push(breaker.untilMs - nowMs);
    }
    expect(pausesMs).toEqual([10_000, 20_000, 40_000, 80_000, 120_000, 120_000]);
    const nowMs = breaker.type === 'open' ? breaker.untilMs : 0;
    const probed = admit(breaker, { nowMs, probe: 1 }).breaker;
    expect(observe(probed, { health: 'working', probe: 1, nowMs }, policy)).toEqual(closedBreaker);
  });

  it('gives the place of a probe that was called off to the next', () => {
    const open = after(times(10, 'down'));
    const probed = admit(open, { nowMs: 5000, probe: 1 }).breaker;
    const released = observe(probed, { health: 'none', probe: 1, nowMs: 5500 }, policy);
    expect(admit(released, { nowMs: 5500, probe: 1 }).admission.type).toBe('probe');
  });

  it('is not moved by late failures, and opens by decision', () => {
    const open = forceOpen(closedBreaker, 0, policy);
    expect(after(times(30, 'down'), open)).toEqual(open);
    expect(forceOpen(open, 99, policy)).toBe(open);
  });

  it('never has two probes under way, whatever happens', () => {
    type Step = readonly ['ask'] | readonly ['end', Health] | readonly ['late', Health];
    const healths = fc.constantFrom<Health>('working', 'down', 'none');
    const steps: fc.Arbitrary<Step> = fc.oneof(
      fc.constant<Step>(['ask']),
      fc.tuple(fc.constant('end' as const), healths),
      fc.tuple(fc.constant('late' as const), healths),
    );
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 200 }), (sequence) => {
        let breaker = after(times(10, 'down'));
        let probes = 0;
        let nowMs = 0;
        for (const [kind, health = 'none'] of sequence) {
          nowMs += 2500;
          if (kind === 'ask') {
            const asked = admit(breaker, { nowMs, probe: 1 });
            breaker = asked.breaker;
            if (asked.admission.type === 'probe') probes += 1;
          } else if (kind === 'end' && probes > 0) {
            probes -= 1;
            breaker = observe(breaker, { health, probe: 1, nowMs }, policy);
          } else {
            breaker = observe(breaker, { health, nowMs }, policy);
            // A late success closes it; the probe under way is then one request among others.
            if (health === 'working') probes = 0;
          }
          expect(probes).toBeLessThanOrEqual(1);
          if (breaker.type !== 'half-open') probes = Math.min(probes, 0);
        }
      }),
    );
  });
});
