import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
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
}

/** Somebody who waits to be let through. */
interface Waiter {
  wake: (() => void) | undefined;
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
  };
  return {
    enter: (options) => {
      if (options.signal?.aborted === true) return { type: 'aborted' };
      // Without anybody before us and with the way open there is nothing to wait for, and no promise to pay for.
      const entry = held.queue.size === 0 ? tryEnter(held) : undefined;
      return entry?.type === 'admitted' ? entry : enterPatiently(held, options);
    },
    spendRetry: () => {
      const spent = spendRetry(held.budget);
      held.budget = spent.budget;
      return spent.isGranted;
    },
    throttle: (failure) => {
      held.lastFailure = failure;
      setBreaker(held, forceOpen(held.breaker, clock.monotonicMs(), policy.breaker));
    },
    breaker: () => held.breaker.type,
    state: () => ({
      breaker: held.breaker.type,
      budgetTokens: held.budget.tokens,
      inFlight: held.inFlight,
      waiting: held.queue.size,
    }),
  };
}

async function enterPatiently(held: Held, options: EnterOptions): Promise<Entry> {
  const { clock, queue } = held;
  const { signal } = options;
  const startMs = clock.monotonicMs();
  const waiter: Waiter = { wake: undefined };
  queue.add(waiter);
  const stopListening = onAbort(signal, () => waiter.wake?.());
  try {
    for (;;) {
      // Bounded by the two longest waits: each round enters, gives up, or waits for a change or for the time to come.
      if (signal?.aborted === true) return { type: 'aborted' };
      const entry = tryEnter(held);
      if (entry.type === 'admitted' || entry.type === 'aborted') return entry;
      const maxMs = entry.type === 'full' ? options.maxPlaceWaitMs : options.maxBreakerWaitMs;
      const leftMs = startMs + maxMs - clock.monotonicMs();
      if (leftMs <= 0) return entry;
      await sleep(waiter, {
        clock,
        delayMs: entry.type === 'full' ? leftMs : Math.min(entry.waitMs, leftMs),
      });
    }
  } finally {
    stopListening();
    queue.delete(waiter);
  }
}

/** Ends when somebody wakes the waiter or when the time has come. */
function sleep(
  waiter: Waiter,
  { clock, delayMs }: { readonly clock: Clock; readonly delayMs: number },
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancelTimer();
      waiter.wake = undefined;
      resolve();
    };
    const cancelTimer = clock.after(delayMs, end);
    waiter.wake = end;
  });
}

function tryEnter(held: Held): Entry {
  if (held.inFlight >= held.policy.maxInFlight) return { type: 'full' };
  const nowMs = held.clock.monotonicMs();
  const { breaker, admission } = admit(held.breaker, nowMs);
  held.breaker = breaker;
  if (admission.type === 'closed-off') {
    // While a probe is under way nobody knows how long it takes; its end wakes everybody.
    const waitMs = (admission.untilMs ?? nowMs + held.policy.breaker.openMs) - nowMs;
    return { type: 'closed-off', waitMs: Math.max(1, waitMs), failure: held.lastFailure };
  }
  const isProbe = admission.type === 'probe';
  held.inFlight += 1;
  let isInside = true;
  return {
    type: 'admitted',
    isProbe,
    leave: (end) => {
      if (!isInside) return;
      isInside = false;
      leave(held, end, isProbe);
    },
  };
}

function leave(held: Held, { health, isSuccess, failure, retries }: AttemptEnd, isProbe: boolean): void {
  held.inFlight -= 1;
  if (isSuccess) held.budget = refundSuccess(held.budget, { retries });
  if (health === 'down') held.lastFailure = failure;
  const nowMs = held.clock.monotonicMs();
  setBreaker(held, observe(held.breaker, { health, isProbe, nowMs }, held.policy.breaker));
  wakeOne(held.queue);
}

/** A change of the breaker wakes everybody: each asks again. */
function setBreaker(held: Held, next: Breaker): void {
  const hasChanged = next.type !== held.breaker.type;
  held.breaker = next;
  if (!hasChanged) return;
  for (const waiter of held.queue) waiter.wake?.();
}

function wakeOne(queue: ReadonlySet<Waiter>): void {
  for (const { wake } of queue) {
    if (wake !== undefined) return wake();
  }
}
