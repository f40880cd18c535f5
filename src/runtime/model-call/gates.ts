import type { Clock } from '../../base/clock.ts';
import { systemClock } from '../../base/system.ts';
import { configError } from '../../errors/config-error.ts';
import { aClock, anObject, checkOptions } from '../../model/check/check-options.ts';
import { defaultBreakerPolicy } from '../../resilience/breaker.ts';
import { createGate } from '../../resilience/gate.ts';
import type { Gate, GatePolicy, GateState } from '../../resilience/gate.ts';

/** The gates of this process, one per provider and key. */
export interface Gates {
  readonly gateOf: (quotaKey: string) => Gate;
  /** For a report: what every gate is doing. Keys hold a fingerprint, never a credential. */
  readonly states: () => Readonly<Record<string, GateState>>;
}

const maxGates = 1000;
const maxGatesInUse = 10_000;

/** Invalid bounds are reported when the gates are made. */
function checkGatePolicy(policy: GatePolicy): GatePolicy {
  const { minAnswers, failureShare, window, openMs, maxOpenMs } = policy.breaker;
  const bounds = { minAnswers, failureShare, window, openMs, maxOpenMs, maxInFlight: policy.maxInFlight };
  for (const [name, value] of Object.entries(bounds)) {
    if (!(typeof value === 'number' && value > 0))
      throw configError(`"${name}" of the gates must be a number above 0, got ${String(value)}`);
  }
  const { budgetTokens = 0 } = policy;
  if (!(budgetTokens >= 0))
    throw configError(`"budgetTokens" of the gates must be a number from 0, got ${String(budgetTokens)}`);
  return policy;
}

const defaultGatePolicy: GatePolicy = { breaker: defaultBreakerPolicy, maxInFlight: 1024 };

const optionRules = {
  clock: aClock,
  policy: anObject('{ maxInFlight: 100 }', ['breaker', 'maxInFlight', 'budgetTokens']),
};

/** Gates of their own, for tests and for those who want to keep two kinds of work apart. */
export function createGates(
  options: { readonly clock?: Clock; readonly policy?: Partial<GatePolicy> } = {},
): Gates {
  checkOptions({ of: 'createGates()', rules: optionRules }, options);
  const clock = options.clock ?? systemClock;
  const policy = checkGatePolicy({ ...defaultGatePolicy, ...options.policy });
  const gates = new Map<string, Gate>();

  function gateOf(quotaKey: string): Gate {
    const known = gates.get(quotaKey);
    if (known === undefined) {
      const gate = createGate({ clock, policy });
      if (gates.size >= maxGates) dropOldest(gates);
      gates.set(quotaKey, gate);
      return gate;
    }
    if (gates.size >= maxGates) {
      // The latest last, so that what is dropped is what was asked for longest ago.
      gates.delete(quotaKey);
      gates.set(quotaKey, known);
    }
    return known;
  }

  return {
    gateOf,
    states: () => Object.fromEntries([...gates].map(([key, gate]) => [key, gate.state()])),
  };
}

/** A caller that makes a key per customer must not fill the memory. A gate that knows something is kept as long as possible. */
function dropOldest(gates: Map<string, Gate>): void {
  for (const [key, gate] of gates) {
    if (!gate.state().isUntouched) continue;
    gates.delete(key);
    return;
  }
  if (gates.size < maxGatesInUse) return;
  // One key with two gates is better than a memory without bound.
  for (const key of gates.keys()) return void gates.delete(key);
}

/** What all calls of this process share, unless they are given gates of their own. */
export const processGates: Gates = createGates();
