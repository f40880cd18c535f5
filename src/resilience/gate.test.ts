import { describe, expect, it } from 'vitest';
import { createFailure } from '../errors/failure.ts';
import { simulatedClock } from '../testing/simulated-clock.ts';
import { defaultBreakerPolicy } from './breaker.ts';
import { createGate } from './gate.ts';
import type { Entry, Gate } from './gate.ts';

const patience = { model: 'm', maxPlaceWaitMs: 60_000, maxBreakerWaitMs: 60_000 } as const;
const down = { health: 'down', isSuccess: false, retries: 0 } as const;
const fine = { health: 'working', isSuccess: true, retries: 0 } as const;

function leave(entry: Entry, end: typeof down | typeof fine = fine): void {
  if (entry.type !== 'admitted') throw new Error(`Expected to be inside, got ${entry.type}`);
  entry.leave(end);
}

async function breakIt(gate: Gate): Promise<void> {
  for (let failure = 0; failure < 10; failure += 1) leave(await gate.enter(patience), down);
}

describe('the gate', () => {
  it('lets as many in as allowed, and the others in the order in which they came', async () => {
    const clock = simulatedClock();
    const gate = createGate({ clock, policy: { breaker: defaultBreakerPolicy, maxInFlight: 2 } });
    const order: string[] = [];
    const enter = async (name: string): Promise<Entry> => {
      const entry = await gate.enter(patience);
      order.push(name);
      return entry;
    };
    const entries = ['a', 'b', 'c', 'd', 'e'].map(enter);
    await clock.advance(0);
    expect(order).toEqual(['a', 'b']);
    expect(gate.state()).toMatchObject({ inFlight: 2, waiting: 3 });
    for (const entry of entries) leave(await clock.runUntil(entry));
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(gate.state()).toMatchObject({ inFlight: 0, waiting: 0 });
    expect(clock.pending()).toBe(0);
  });

  it('does not let anybody wait longer than allowed', async () => {
    const clock = simulatedClock();
    const gate = createGate({ clock, policy: { breaker: defaultBreakerPolicy, maxInFlight: 1 } });
    await gate.enter(patience);
    const second = await clock.runUntil(Promise.resolve(gate.enter({ ...patience, maxPlaceWaitMs: 700 })));
    expect(second.type).toBe('full');
    expect(clock.monotonicMs()).toBe(700);
  });

  it('ends a wait on abort, and forgets who waited', async () => {
    const clock = simulatedClock();
    const gate = createGate({ clock, policy: { breaker: defaultBreakerPolicy, maxInFlight: 1 } });
    await gate.enter(patience);
    const controller = new AbortController();
    clock.after(10, () => controller.abort());
    const second = await clock.runUntil(
      Promise.resolve(gate.enter({ ...patience, signal: controller.signal })),
    );
    expect(second.type).toBe('aborted');
    expect(gate.state().waiting).toBe(0);
    expect(clock.pending()).toBe(0);
    expect(await gate.enter({ ...patience, signal: controller.signal })).toEqual({ type: 'aborted' });
  });

  it('counts an end once, however often it is told', async () => {
    const gate = createGate({
      clock: simulatedClock(),
      policy: { breaker: defaultBreakerPolicy, maxInFlight: 1 },
    });
    const entry = await gate.enter(patience);
    leave(entry);
    leave(entry);
    expect(gate.state().inFlight).toBe(0);
  });

  it('lets one probe through an open breaker, and everybody after it when it succeeds', async () => {
    const clock = simulatedClock();
    const gate = createGate({ clock, policy: { breaker: defaultBreakerPolicy, maxInFlight: 64 } });
    await breakIt(gate);
    const inside: Entry[] = [];
    const all = Promise.all(
      Array.from({ length: 20 }, async () => {
        const entry = await gate.enter(patience);
        inside.push(entry);
      }),
    );
    await clock.advance(4999);
    expect(inside).toHaveLength(0);
    await clock.advance(10_000);
    expect(inside).toMatchObject([{ type: 'admitted', isProbe: true }]);
    inside.forEach((entry) => leave(entry));
    await clock.runUntil(all);
    expect(inside).toHaveLength(20);
    expect(gate.state()).toMatchObject({ breaker: 'closed', inFlight: 19 });
  });

  it('says what opened it to whoever may not wait', async () => {
    const clock = simulatedClock();
    const gate = createGate({ clock, policy: { breaker: defaultBreakerPolicy, maxInFlight: 64 } });
    const failure = createFailure('OVERLOADED', { message: 'It is overloaded' });
    gate.throttle('m', failure);
    const entry = await gate.enter({ ...patience, maxBreakerWaitMs: 0 });
    expect(entry).toEqual({ type: 'closed-off', waitMs: 5000, failure });
  });
});
