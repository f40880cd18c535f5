import type { Clock } from '../base/clock.ts';
import { systemClock } from '../base/system.ts';
import { defaultBreakerPolicy } from '../resilience/breaker.ts';
import { createGate } from '../resilience/gate.ts';
import type { Gate, GatePolicy, GateState } from '../resilience/gate.ts';

/** The gates of this process, one per provider and key. */
export interface Gates {
  readonly gateOf: (quotaKey: string) => Gate;
  /** For a report: what every gate is doing. Keys hold a fingerprint, never a credential. */
  readonly states: () => Readonly<Record<string, GateState>>;
}

const maxGates = 1000;

const defaultGatePolicy: GatePolicy = { breaker: defaultBreakerPolicy, maxInFlight: 64 };

/** Gates of their own, for tests and for those who want to keep two kinds of work apart. */
export function createGates(
  options: { readonly clock?: Clock; readonly policy?: Partial<GatePolicy> } = {},
): Gates {
  const clock = options.clock ?? systemClock;
  const policy = { ...defaultGatePolicy, ...options.policy };
  const gates = new Map<string, Gate>();

  function gateOf(quotaKey: string): Gate {
    const known = gates.get(quotaKey);
    if (known !== undefined) return known;
    const gate = createGate({ clock, policy });
    gates.set(quotaKey, gate);
    if (gates.size > maxGates) dropOldestIdle(gates);
    return gate;
  }

  return {
    gateOf,
    states: () => Object.fromEntries([...gates].map(([key, gate]) => [key, gate.state()])),
  };
}

/** Somebody who makes a key per customer must not fill the memory. A gate in use is never forgotten. */
function dropOldestIdle(gates: Map<string, Gate>): void {
  for (const [key, gate] of gates) {
    const { inFlight, waiting, breaker } = gate.state();
    if (inFlight > 0 || waiting > 0 || breaker !== 'closed') continue;
    gates.delete(key);
    return;
  }
}

/** What all calls of this process share, unless they are given gates of their own. */
export const processGates: Gates = createGates();
