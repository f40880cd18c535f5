import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wait } from '../base/abort.ts';
import { simulatedClock } from './simulated-clock.ts';

describe('simulatedClock', () => {
  it.each([Number.NaN, Infinity, -Infinity])('refuses a timer of %s', (delayMs) => {
    expect(() => simulatedClock().after(delayMs, () => undefined)).toThrow('finite delay');
  });

  it.each([Number.NaN, -1, Infinity])('refuses to advance by %s', async (ms) => {
    await expect(simulatedClock().advance(ms)).rejects.toThrow('from 0 on');
  });

  it('fails clearly when a promise is open and nothing is pending', async () => {
    const never = new Promise<void>(() => undefined);
    await expect(simulatedClock().runUntil(never)).rejects.toThrow('no timer is pending');
  });

  it('fails clearly when a promise is open after maxMs, and leaves the clock usable', async () => {
    const clock = simulatedClock();
    const late = wait(1001, { clock });
    await expect(clock.runUntil(late, { maxMs: 1000 })).rejects.toThrow('after 1000 simulated ms');
    expect(await clock.runUntil(late)).toBe('elapsed');
  });

  it('fails when two moves overlap', async () => {
    const clock = simulatedClock();
    const first = clock.advance(1);
    await expect(clock.advance(1)).rejects.toThrow('already being moved');
    await first;
    await clock.advance(1);
    expect(clock.monotonicMs()).toBe(2);
  });

  it('passes on what a timer throws', async () => {
    const clock = simulatedClock();
    clock.after(1, () => {
      throw new Error('from a timer');
    });
    await expect(clock.advance(1)).rejects.toThrow('from a timer');
  });

  it('runAll() fails when a timer is left after maxMs', async () => {
    const clock = simulatedClock();
    const again = (): void => void clock.after(10, again);
    again();
    await expect(clock.runAll({ maxMs: 100 })).rejects.toThrow('1 timers are still pending');
    expect(clock.monotonicMs()).toBe(100);
  });

  it('gives the rejection of the promise it runs for', async () => {
    const clock = simulatedClock();
    const failing = wait(5, { clock }).then(() => {
      throw new Error('wanted');
    });
    await expect(clock.runUntil(failing)).rejects.toThrow('wanted');
  });

  it('stands still unless it is moved', async () => {
    const clock = simulatedClock({ startWallMs: 1000 });
    await new Promise((resolve) => setImmediate(resolve));
    expect([clock.wallMs(), clock.monotonicMs()]).toEqual([1000, 0]);
  });

  it('fires timers in the order of their time, equals in the order they were set', async () => {
    const clock = simulatedClock();
    const fired: string[] = [];
    for (const [name, delayMs] of [
      ['late', 30],
      ['first', 10],
      ['second', 10],
      ['at once', -5],
    ] as const) {
      clock.after(delayMs, () => fired.push(`${name} ${clock.monotonicMs()}`));
    }
    await clock.advance(20);
    expect(fired).toEqual(['at once 0', 'first 10', 'second 10']);
    expect(clock.monotonicMs()).toBe(20);
    expect(clock.pending()).toBe(1);
  });

  it('lets the code that a timer woke run before the next timer', async () => {
    const clock = simulatedClock();
    const steps: string[] = [];
    const worker = async (): Promise<void> => {
      await wait(10, { clock });
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`woke ${clock.monotonicMs()}`);
      await wait(5, { clock });
      steps.push(`again ${clock.monotonicMs()}`);
    };
    clock.after(20, () => steps.push(`timer ${clock.monotonicMs()}`));
    const done = worker();
    await clock.advance(20);
    await done;
    expect(steps).toEqual(['woke 10', 'again 15', 'timer 20']);
  });

  it('keeps delays longer than 31 bits', async () => {
    const clock = simulatedClock();
    const delayMs = 40 * 24 * 3_600_000;
    const waited = wait(delayMs, { clock });
    await clock.advance(2 ** 31);
    expect(clock.pending()).toBe(1);
    expect(await clock.runUntil(waited)).toBe('elapsed');
    expect(clock.monotonicMs()).toBe(delayMs);
  });

  it('calls a timer off, twice without harm', async () => {
    const clock = simulatedClock();
    const cancel = clock.after(10, () => expect.unreachable());
    cancel();
    cancel();
    expect(clock.pending()).toBe(0);
    await clock.advance(20);
  });

  it('moves the wall clock alone', async () => {
    const clock = simulatedClock({ startWallMs: 5000 });
    clock.after(10, () => expect.unreachable());
    clock.jumpWall(-1000);
    expect([clock.wallMs(), clock.monotonicMs()]).toEqual([4000, 0]);
    await clock.advance(9);
    expect(clock.wallMs()).toBe(4009);
  });

  it('waits for work in real time before it calls a promise stuck', async () => {
    const clock = simulatedClock();
    const real = new Promise<string>((resolve) => setTimeout(() => resolve('came'), 20));
    expect(await clock.runUntil(real)).toBe('came');
    expect(clock.monotonicMs()).toBe(0);
  });

  it('runAll() runs timers that timers have set', async () => {
    const clock = simulatedClock();
    let fired = 0;
    clock.after(10, () => clock.after(10, () => (fired += 1)));
    await clock.runAll();
    expect([fired, clock.monotonicMs(), clock.pending()]).toEqual([1, 20, 0]);
  });

  it('fires any set of timers sorted, without those called off', async () => {
    const timer = fc.record({ delayMs: fc.integer({ min: 0, max: 50 }), isCancelled: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(timer, { maxLength: 30 }), async (timers) => {
        const clock = simulatedClock();
        const fired: number[] = [];
        const cancels = timers.map(({ delayMs }, index) => clock.after(delayMs, () => fired.push(index)));
        timers.forEach(({ isCancelled }, index) => isCancelled && cancels[index]?.());
        await clock.runAll();
        const expected = timers
          .map(({ delayMs, isCancelled }, index) => ({ delayMs, isCancelled, index }))
          .filter(({ isCancelled }) => !isCancelled)
          .toSorted((one, other) => one.delayMs - other.delayMs || one.index - other.index);
        expect(fired).toEqual(expected.map(({ index }) => index));
      }),
    );
  });
});
