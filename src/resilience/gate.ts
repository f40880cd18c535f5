import { onAbort } from '../base/abort.ts';
import type { Cancel, Clock } from '../base/clock.ts';
import type { Failure } from '../errors/failure.ts';
import { admit, closedBreaker, forceOpen, observe } from './breaker.ts';
import type { Breaker, BreakerPolicy, Health } from './breaker.ts';
import { createRetryBudget, refundSuccess, spendRetry } from './retry-budget.ts';
import type { RetryBudget } from './retry-budget.ts';

/** What came of asking to be let through. */
export type Entry =
  | { readonly type: 'admitted'; readonly isProbe: boolean; readonly leave: (end: AttemptEnd) => void }
  /** The breaker is open. `waitMs` from now it may be asked again; `failure` is what opened it. */
  | { readonly type: 'closed-off'; readonly waitMs: number; readonly failure: Failure | undefined }
  /** As many requests as allowed are under way, and none ended in time. */
  | { readonly type: 'full' }
  | { readonly type: 'aborted' };

/** How an admitted attempt ended. */
export interface AttemptEnd {
  readonly health: Health;
  /** A refusal shows that the provider works, but earns the budget nothing. */
  readonly isSuccess: boolean;
  readonly failure?: Failure | undefined;
  /** Retries that this call had made at this gate before. */
  readonly retries: number;
}

/** A view for events and reports. */
export interface GateState {
  readonly breaker: Breaker['type'];
  readonly budgetTokens: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** Nothing is known here that would be lost with it. */
  readonly isUntouched: boolean;
}

/** What all calls of one provider and key share in this process: the breaker, the retry budget, the number in flight. */
export interface Gate {
  /** Waits for a place and for the breaker, each as long as allowed and at most until the signal aborts. */
  readonly enter: (options: EnterOptions) => Promise<Entry> | Entry;
  readonly spendRetry: () => boolean;
  /** Lets only single probes through from now on. */
  readonly throttle: (failure: Failure) => void;
  readonly breaker: () => Breaker['type'];
  readonly state: () => GateState;
}

export interface EnterOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for one of the requests under way to end. */
  readonly maxPlaceWaitMs: number;
  /** How long to wait for an open breaker. */
  readonly maxBreakerWaitMs: number;
}

export interface GatePolicy {
  readonly breaker: BreakerPolicy;
  readonly maxInFlight: number;
  readonly budgetTokens?: number;
}

/** What the gate keeps. It changes in place, for every caller of the process shares it. */
interface Held {
  readonly clock: Clock;
  readonly policy: GatePolicy;
  /** In the order in which they came. A waiter keeps its place until it enters or goes away. */
  readonly queue: Set<Waiter>;
  breaker: Breaker;
  budget: RetryBudget;
  lastFailure: Failure | undefined;
  inFlight: number;
  /** How many probes there have been; the latest has this number. */
  probes: number;
  /** Calls off the look at the moment when the next probe is due. */
  cancelTimer: Cancel;
}

/** Somebody who waits to be let through. */
interface Waiter extends EnterOptions {
  readonly startMs: number;
  readonly settle: (entry: Entry) => void;
}

interface GateDeps {
  readonly clock: Clock;
  readonly policy: GatePolicy;
}

/** An executor as thin as can be: every decision is made in `breaker.ts` and `retry-budget.ts`. */
export function createGate({ clock, policy }: GateDeps): Gate {
  const held: Held = {
    clock,
    policy,
    queue: new Set(),
    breaker: closedBreaker,
    budget: createRetryBudget(policy.budgetTokens),
    lastFailure: undefined,
    inFlight: 0,
    probes: 0,
    cancelTimer: () => undefined,
  };
  return {
    enter: (options) => {
      if (options.signal?.aborted === true) return { type: 'aborted' };
      // Without anybody before us and with the way open there is nothing to wait for, and no promise to pay for.
      const entry = held.queue.size === 0 ? tryEnter(held) : undefined;
      return entry?.type === 'admitted' ? entry : queueUp(held, options);
    },
    spendRetry: () => {
      const spent = spendRetry(held.budget);
      held.budget = spent.budget;
      return spent.isGranted;
    },
    throttle: (failure) => {
      held.lastFailure = failure;
      held.breaker = forceOpen(held.breaker, clock.monotonicMs(), policy.breaker);
      serve(held);
    },
    breaker: () => held.breaker.type,
    state: () => ({
      breaker: held.breaker.type,
      budgetTokens: held.budget.tokens,
      inFlight: held.inFlight,
      waiting: held.queue.size,
      isUntouched:
        held.inFlight === 0 &&
        held.queue.size === 0 &&
        held.breaker.type === 'closed' &&
        held.budget.tokens >= held.budget.capacity,
    }),
  };
}

/** Waits in the order of arrival. Whoever is let in is let in by the gate, so that no place is lost between two turns. */
function queueUp(held: Held, options: EnterOptions): Promise<Entry> {
  return new Promise((resolve) => {
    let cancelTimer: Cancel = () => undefined;
    const waiter: Waiter = {
      ...options,
      startMs: held.clock.monotonicMs(),
      settle: (entry) => {
        held.queue.delete(waiter);
        cancelTimer();
        stopListening();
        resolve(entry);
      },
    };
    const stopListening = onAbort(options.signal, () => {
      waiter.settle({ type: 'aborted' });
      serve(held);
    });
    const look = (): void => {
      serve(held);
      if (!held.queue.has(waiter)) return;
      if (!sendAway(held, waiter)) cancelTimer = held.clock.after(nextLookMs(held.clock, waiter), look);
    };
    held.queue.add(waiter);
    look();
  });
}

/** When a waiter has waited as long as it may, for a place or for the breaker; the gate itself looks at all else. */
function nextLookMs(clock: Clock, { startMs, maxPlaceWaitMs, maxBreakerWaitMs }: Waiter): number {
  const waitedMs = clock.monotonicMs() - startMs;
  const left = [maxPlaceWaitMs - waitedMs, maxBreakerWaitMs - waitedMs].filter((leftMs) => leftMs > 0);
  return Math.max(1, Math.min(...left, Math.max(maxPlaceWaitMs, maxBreakerWaitMs)));
}

/** Lets in whoever may, first come, first served. Where the first one may not, nobody behind him may. */
function serve(held: Held): void {
  for (const waiter of held.queue) {
    const entry = tryEnter(held);
    if (entry.type === 'admitted') {
      waiter.settle(entry);
      continue;
    }
    // To wait for an open breaker may be shorter than to wait for a place: whoever does not want that goes at once.
    if (entry.type === 'closed-off') for (const other of held.queue) leaveIfLate(held, other, entry);
    break;
  }
  awaitProbeTime(held);
}

/** Whoever has waited long enough goes. Each waiter looks at his own time himself. */
function sendAway(held: Held, waiter: Waiter): boolean {
  const entry = tryEnter(held);
  if (entry.type === 'admitted') {
    waiter.settle(entry);
    return true;
  }
  return leaveIfLate(held, waiter, entry);
}

function leaveIfLate(held: Held, waiter: Waiter, entry: Exclude<Entry, { type: 'admitted' }>): boolean {
  const maxMs = entry.type === 'full' ? waiter.maxPlaceWaitMs : waiter.maxBreakerWaitMs;
  if (held.clock.monotonicMs() - waiter.startMs < maxMs) return false;
  waiter.settle(entry);
  return true;
}

/** One timer for all who wait for an open breaker. */
function awaitProbeTime(held: Held): void {
  held.cancelTimer();
  held.cancelTimer = () => undefined;
  if (held.queue.size === 0 || held.breaker.type !== 'open') return;
  const waitMs = Math.max(1, held.breaker.untilMs - held.clock.monotonicMs());
  held.cancelTimer = held.clock.after(waitMs, () => serve(held));
}

function tryEnter(held: Held): Entry {
  const nowMs = held.clock.monotonicMs();
  const { breaker } = held;
  const isDue = breaker.type === 'open' && nowMs >= breaker.untilMs;
  if (breaker.type !== 'closed' && !isDue) {
    // While a probe is under way nobody knows how long it takes; its end serves everybody.
    const waitMs = breaker.type === 'open' ? breaker.untilMs - nowMs : held.policy.breaker.openMs;
    return { type: 'closed-off', waitMs: Math.max(1, waitMs), failure: held.lastFailure };
  }
  if (held.inFlight >= held.policy.maxInFlight) return { type: 'full' };
  const admitted = admit(breaker, { nowMs, probe: held.probes + 1 });
  held.breaker = admitted.breaker;
  const probe = admitted.admission.type === 'probe' ? admitted.admission.probe : undefined;
  if (probe !== undefined) held.probes = probe;
  held.inFlight += 1;
  let isInside = true;
  return {
    type: 'admitted',
    isProbe: probe !== undefined,
    leave: (end) => {
      if (!isInside) return;
      isInside = false;
      leave(held, end, probe);
    },
  };
}

function leave(
  held: Held,
  { health, isSuccess, failure, retries }: AttemptEnd,
  probe: number | undefined,
): void {
  held.inFlight -= 1;
  if (isSuccess) held.budget = refundSuccess(held.budget, { retries });
  if (health === 'down') held.lastFailure = failure;
  const nowMs = held.clock.monotonicMs();
  held.breaker = observe(held.breaker, { health, probe, nowMs }, held.policy.breaker);
  if (held.queue.size > 0) serve(held);
}
