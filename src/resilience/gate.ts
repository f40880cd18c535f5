import { onAbort } from '../base/abort.ts';
import type { Cancel, Clock } from '../base/clock.ts';
import type { Failure } from '../errors/failure.ts';
import type { Breaker, BreakerPolicy, Health } from './breaker.ts';
import {
  answersLately,
  breakerOf,
  coolingOf,
  createGateHealth,
  isSpotless,
  learn,
  letThrough,
  probeDueMs,
  refusalOf,
  throttleModel,
} from './gate-health.ts';
import type { Cooling, GateHealth, Refusal } from './gate-health.ts';
import { createRetryBudget, refundSuccess, spendRetry } from './retry-budget.ts';
import type { RetryBudget } from './retry-budget.ts';

/** What came of asking to be let through. */
export type Entry =
  | { readonly type: 'admitted'; readonly isProbe: boolean; readonly leave: (end: AttemptEnd) => void }
  /** A breaker is open, or the account cools down. `waitMs` from now it may be asked again; `failure` is the reason. */
  | Refusal
  /** As many requests as allowed are under way, and none ended in time. */
  | { readonly type: 'full' }
  | { readonly type: 'aborted' };

/** How an admitted attempt ended. */
export interface AttemptEnd {
  readonly health: Health;
  /** A refusal shows that the provider works, but earns the budget nothing. */
  readonly isSuccess: boolean;
  readonly failure?: Failure | undefined;
  /** How many failures it counts as; 1 where it is absent. */
  readonly weight?: number;
  /** Retries that this call had made at this gate before. */
  readonly retries: number;
}

/** A view for events and reports. */
export interface GateState {
  /** Of the account, or, where that is closed, the strictest of its models. */
  readonly breaker: Breaker['type'];
  /** The models whose own breaker is not closed. */
  readonly models: Readonly<Record<string, Breaker['type']>>;
  /** The account is empty or its key was refused: it is asked last. */
  readonly isCooling: boolean;
  readonly budgetTokens: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** Nothing is known here that would be lost with it. */
  readonly isUntouched: boolean;
}

/** What all calls of one provider and key share in this process: the breakers, the cool-down, the retry budget, the number in flight. */
export interface Gate {
  /** Waits for a place and for the breaker, each as long as allowed and at most until the signal aborts. */
  readonly enter: (options: EnterOptions) => Promise<Entry> | Entry;
  readonly spendRetry: () => boolean;
  /** Lets only single probes through from now on. */
  readonly throttle: (model: string, failure: Failure) => void;
  /** Of the account or the model, whichever is stricter. */
  readonly breaker: (model: string) => Breaker['type'];
  /** Whether the model has answered anybody lately. */
  readonly answersLately: (model: string) => boolean;
  /** Whether the account or the model is to be asked last, and for how long. */
  readonly cooling: (model: string) => Cooling | undefined;
  readonly state: () => GateState;
}

export interface EnterOptions {
  readonly model: string;
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
  readonly health: GateHealth;
  budget: RetryBudget;
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
    health: createGateHealth(policy.breaker),
    budget: createRetryBudget(policy.budgetTokens),
    inFlight: 0,
    probes: 0,
    cancelTimer: () => undefined,
  };
  return {
    enter: (options) => {
      if (options.signal?.aborted === true) return { type: 'aborted' };
      // Without anybody before us and with the way open there is nothing to wait for, and no promise to pay for.
      const entry = held.queue.size === 0 ? tryEnter(held, options.model) : undefined;
      return entry?.type === 'admitted' ? entry : queueUp(held, options);
    },
    spendRetry: () => {
      const spent = spendRetry(held.budget);
      held.budget = spent.budget;
      return spent.isGranted;
    },
    throttle: (model, failure) => {
      throttleModel(held.health, model, { failure, nowMs: clock.monotonicMs() });
      serve(held);
    },
    breaker: (model) => breakerOf(held.health, model).type,
    answersLately: (model) => answersLately(held.health, model),
    cooling: (model) => coolingOf(held.health, model, clock.monotonicMs()),
    state: () => stateOf(held),
  };
}

function stateOf({ health, budget, inFlight, queue }: Held): GateState {
  const models = Object.fromEntries(
    [...health.models].flatMap(([name, { breaker }]) =>
      breaker.type === 'closed' ? [] : [[name, breaker.type] as const],
    ),
  );
  const ofAccount = health.account.breaker.type;
  const types = Object.values(models);
  const ofModels = types.find((type) => type === 'open') ?? types[0] ?? 'closed';
  return {
    breaker: ofAccount === 'closed' ? ofModels : ofAccount,
    models,
    isCooling: health.cooldown !== undefined,
    budgetTokens: budget.tokens,
    inFlight,
    waiting: queue.size,
    isUntouched: inFlight === 0 && queue.size === 0 && isSpotless(health) && budget.tokens >= budget.capacity,
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

/** Lets in whoever may, first come, first served. Where there is no place left nobody enters; a breaker holds up only its own. */
function serve(held: Held): void {
  for (const waiter of held.queue) {
    const entry = tryEnter(held, waiter.model);
    if (entry.type === 'full') break;
    if (entry.type === 'admitted') waiter.settle(entry);
    // To wait for an open breaker may be shorter than to wait for a place: whoever does not want that goes at once.
    else leaveIfLate(held, waiter, entry);
  }
  awaitProbeTime(held);
}

/** Whoever has waited long enough goes. Each waiter looks at his own time himself. */
function sendAway(held: Held, waiter: Waiter): boolean {
  const entry = tryEnter(held, waiter.model);
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
  const models = new Set([...held.queue].map(({ model }) => model));
  const dueMs = Math.min(...[...models].map((model) => probeDueMs(held.health, model) ?? Infinity));
  if (dueMs === Infinity) return;
  const waitMs = Math.max(1, dueMs - held.clock.monotonicMs());
  held.cancelTimer = held.clock.after(waitMs, () => serve(held));
}

function tryEnter(held: Held, model: string): Exclude<Entry, { type: 'aborted' }> {
  const nowMs = held.clock.monotonicMs();
  const refusal = refusalOf(held.health, model, nowMs);
  if (refusal !== undefined) return refusal;
  if (held.inFlight >= held.policy.maxInFlight) return { type: 'full' };
  const probe = held.probes + 1;
  const isProbe = letThrough(held.health, model, { nowMs, probe });
  if (isProbe) held.probes = probe;
  held.inFlight += 1;
  let isInside = true;
  return {
    type: 'admitted',
    isProbe,
    leave: (end) => {
      if (!isInside) return;
      isInside = false;
      leave(held, end, { model, probe: isProbe ? probe : undefined });
    },
  };
}

interface Inside {
  readonly model: string;
  readonly probe: number | undefined;
}

function leave(
  held: Held,
  { health, isSuccess, failure, retries, weight = 1 }: AttemptEnd,
  { model, probe }: Inside,
): void {
  held.inFlight -= 1;
  if (isSuccess) held.budget = refundSuccess(held.budget, { retries });
  const nowMs = held.clock.monotonicMs();
  const isOfNoUse = learn(held.health, { model, health, isSuccess, failure, probe, nowMs, weight });
  if (held.queue.size === 0) return;
  // Whoever waited for what this one would find out has found it out.
  if (isOfNoUse && failure !== undefined) {
    for (const waiter of held.queue)
      waiter.settle({ type: 'closed-off', waitMs: 1, failure, isCooling: true });
  }
  serve(held);
}
