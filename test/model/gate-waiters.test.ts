import { describe, expect, it } from 'vitest';
import { createFailure } from '../../src/errors/failure.ts';
import { defaultBreakerPolicy } from '../../src/resilience/breaker.ts';
import { createGate } from '../../src/resilience/gate.ts';
import type { Entry, Gate, GatePolicy } from '../../src/resilience/gate.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts';

const minuteMs = 60_000;
const patient = { model: 'm', maxPlaceWaitMs: 30 * minuteMs, maxBreakerWaitMs: 30 * minuteMs };
const down = createFailure('SERVER_ERROR', { message: 'down' });

type Admitted = Extract<Entry, { type: 'admitted' }>;

function setUp(policy: Partial<GatePolicy>): { readonly clock: SimulatedClock; readonly gate: Gate } {
  const clock = simulatedClock();
  const gate = createGate({
    clock,
    policy: { breaker: defaultBreakerPolicy, maxInFlight: 1, ...policy },
  });
  return { clock, gate };
}

function admitted(entry: Entry | Promise<Entry>): Admitted {
  if (entry instanceof Promise || entry.type !== 'admitted') throw new Error('was not let in at once');
  return entry;
}

const works = { health: 'working', isSuccess: true, retries: 0 } as const;
const fails = { health: 'down', isSuccess: false, failure: down, retries: 0 } as const;

/** Waits in the background, and notes when it was let in. */
function wait(gate: Gate, clock: SimulatedClock, options: Partial<Parameters<Gate['enter']>[0]> = {}) {
  const seen: { atMs?: number; entry?: Entry } = {};
  const enter = async (): Promise<void> => {
    seen.entry = await gate.enter({ ...patient, ...options });
    seen.atMs = clock.monotonicMs();
  };
  return { seen, done: enter() };
}

describe('the gate and those who wait at it', () => {
  it('does not lose a free place when the one who was woken is cancelled in the same turn', async () => {
    const { clock, gate } = setUp({});
    const inside = admitted(gate.enter(patient));
    const controller = new AbortController();
    const first = wait(gate, clock, { signal: controller.signal });
    const second = wait(gate, clock);
    await clock.advance(1000);
    inside.leave(works);
    controller.abort();
    await clock.advance(1000);
    // It was let in before it was cancelled; whoever calls sees the signal and leaves at once.
    (first.seen.entry as Admitted | undefined)?.leave({ health: 'none', isSuccess: false, retries: 0 });
    await clock.advance(0);
    expect(second.seen.entry?.type).toBe('admitted');
    await clock.runUntil(second.done);
  });

  it('lets the next one probe when the one who was woken goes to another model', async () => {
    const { clock, gate } = setUp({});
    const inside = admitted(gate.enter(patient));
    const fallsBack = wait(gate, clock, { maxBreakerWaitMs: 0 });
    const waits = wait(gate, clock);
    await clock.advance(1000);
    // A patient call has spent the budget: the breaker opens while all places are taken.
    gate.throttle('m', down);
    await clock.advance(1000);
    inside.leave(fails);
    await clock.advance(minuteMs);
    expect(fallsBack.seen.entry?.type).toBe('closed-off');
    expect(waits.seen.entry).toMatchObject({ type: 'admitted', isProbe: true });
    await clock.runUntil(waits.done);
  });

  it('serves those first who came first', async () => {
    const { clock, gate } = setUp({});
    const inside = admitted(gate.enter(patient));
    const early = wait(gate, clock);
    await clock.advance(1000);
    inside.leave(works);
    const late = wait(gate, clock);
    await clock.advance(1000);
    expect({ early: early.seen.entry?.type, late: late.seen.entry?.type }).toEqual({
      early: 'admitted',
      late: undefined,
    });
    (early.seen.entry as Admitted | undefined)?.leave(works);
    await clock.runUntil(late.done);
  });

  it('sends a call with another model away at once when the breaker is open, however many are under way', async () => {
    const { clock, gate } = setUp({ maxInFlight: 2 });
    admitted(gate.enter(patient)); // Hangs.
    const opener = admitted(gate.enter(patient));
    gate.throttle('m', down);
    opener.leave(fails);
    await clock.advance(5000);
    expect(admitted(gate.enter(patient)).isProbe).toBe(true); // Half-open, and both places are taken.
    const fallsBack = wait(gate, clock, { maxBreakerWaitMs: 0 });
    await clock.advance(10);
    expect(fallsBack.seen.entry?.type).toBe('closed-off');
    await clock.runAll().catch(() => undefined);
  });

  it('has one probe under way, also when a late answer closed the breaker in between', async () => {
    const { clock, gate } = setUp({
      maxInFlight: 64,
      breaker: { ...defaultBreakerPolicy, minAnswers: 1, window: 1 },
    });
    const old = admitted(gate.enter(patient));
    admitted(gate.enter(patient)).leave(fails); // Opens.
    await clock.advance(5000);
    const firstProbe = admitted(gate.enter(patient));
    old.leave(works); // Closes.
    admitted(gate.enter(patient)).leave(fails); // Opens again.
    await clock.advance(5000);
    const secondProbe = admitted(gate.enter(patient));
    expect([firstProbe.isProbe, secondProbe.isProbe]).toEqual([true, true]);
    firstProbe.leave({ health: 'none', isSuccess: false, retries: 0 }); // Its caller gave up; it is nobody's probe any more.
    const entry = gate.enter({ ...patient, maxBreakerWaitMs: 0 });
    expect(await entry).toMatchObject({ type: 'closed-off' });
  });
});
