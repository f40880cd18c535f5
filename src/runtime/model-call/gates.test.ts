import { describe, expect, it } from 'vitest';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { createGates } from './gates.ts';

const patience = { model: 'm', maxPlaceWaitMs: 0, maxBreakerWaitMs: 0 } as const;

describe('createGates()', () => {
  it('forgets idle gates beyond a thousand, the oldest first, and never one that is in use', async () => {
    const gates = createGates({ clock: simulatedClock() });
    const first = gates.gateOf('in use');
    const entry = await first.enter(patience);
    for (let key = 0; key < 1500; key += 1) gates.gateOf(`key ${key}`);
    const kept = Object.keys(gates.states());
    expect(kept).toHaveLength(1000);
    expect(kept[0]).toBe('in use');
    expect(kept).not.toContain('key 0');
    expect(kept.at(-1)).toBe('key 1499');
    expect(gates.gateOf('in use')).toBe(first);
    expect(entry.type).toBe('admitted');
  });

  it('keeps providers and keys apart', async () => {
    const gates = createGates({ clock: simulatedClock(), policy: { maxInFlight: 1 } });
    expect((await gates.gateOf('a').enter(patience)).type).toBe('admitted');
    expect((await gates.gateOf('a').enter(patience)).type).toBe('full');
    expect((await gates.gateOf('b').enter(patience)).type).toBe('admitted');
  });
});
