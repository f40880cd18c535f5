import type { Failure } from '../errors/failure.ts';
import { closedAccount, observeAccount } from './account-breaker.ts';
import type { AccountBreaker } from './account-breaker.ts';
import { admit, closedBreaker, forceOpen, observe } from './breaker.ts';
import type { Breaker, BreakerPolicy, Health } from './breaker.ts';
import { coolDown, cooledBy } from './cooldown.ts';
import type { Cooldown } from './cooldown.ts';

/** What a gate knows of its account and of the models behind it. It changes in place, for every caller of the process shares it. */
export interface GateHealth {
  readonly policy: BreakerPolicy;
  /** Bounded; the one that was heard of last stands last. */
  readonly models: Map<string, ModelHealth>;
  account: AccountBreaker;
  accountFailure: Failure | undefined;
  cooldown: AccountCooldown | undefined;
  /** The one request under way that finds out whether the account is of use again. */
  coolProbe: number | undefined;
}

/** The account cools down by what one of its models was answered. */
interface AccountCooldown extends Cooldown {
  readonly model: string;
}

interface ModelHealth {
  breaker: Breaker;
  /** Since the breaker was last open. */
  hasAnswered: boolean;
  failure: Failure | undefined;
  /** It is asked last: it named a time, or it alone is refused by an account that answers for other models. */
  limited: Cooldown | undefined;
}

/** Why a request may not be sent now, and for how long. */
export interface Refusal {
  readonly type: 'closed-off';
  readonly waitMs: number;
  /** What opened the breaker, or cooled the account. */
  readonly failure: Failure | undefined;
  readonly isCooling?: true;
}

/** An account or a model that is to be asked last. */
export interface Cooling extends Pick<Refusal, 'waitMs'> {
  readonly failure: Failure;
}

/** How one attempt ended. */
export interface Ending {
  readonly model: string;
  readonly health: Health;
  readonly isSuccess: boolean;
  readonly failure: Failure | undefined;
  readonly probe: number | undefined;
  readonly nowMs: number;
  /** How many failures it counts as. */
  readonly weight: number;
}

const maxModels = 256;

/** Nothing is known yet. */
export function createGateHealth(policy: BreakerPolicy): GateHealth {
  return {
    policy,
    models: new Map(),
    account: closedAccount,
    accountFailure: undefined,
    cooldown: undefined,
    coolProbe: undefined,
  };
}

/** The stricter one of the breakers of the account and the model. */
export function breakerOf({ account, models }: GateHealth, model: string): Breaker {
  const own = models.get(model)?.breaker ?? closedBreaker;
  return account.breaker.type === 'closed' ? own : account.breaker;
}

/** Whether the model has answered anybody lately. */
export function answersLately({ models }: GateHealth, model: string): boolean {
  return models.get(model)?.hasAnswered === true;
}

/** What keeps a request to the model from being sent now. */
export function refusalOf(health: GateHealth, model: string, nowMs: number): Refusal | undefined {
  const own = health.models.get(model);
  const isOpen = health.account.breaker.type === 'closed' && (own?.breaker.type ?? 'closed') === 'closed';
  if (isOpen && health.coolProbe === undefined) return undefined; // Nearly always, and the rest takes time.
  const refusals = [
    ofBreaker(health.account.breaker, health.accountFailure),
    ofBreaker(own?.breaker ?? closedBreaker, own?.failure),
  ].filter((refusal) => refusal !== undefined);
  if (health.coolProbe !== undefined && health.cooldown !== undefined) {
    const { failure, untilMs } = health.cooldown;
    const waitMs = Math.max(1, untilMs - nowMs);
    refusals.push({ type: 'closed-off', waitMs, failure, isCooling: true });
  }
  return refusals.toSorted((one, other) => other.waitMs - one.waitMs)[0];

  function ofBreaker(breaker: Breaker, failure: Failure | undefined): Refusal | undefined {
    if (breaker.type === 'closed') return undefined;
    // While a probe is under way its end is not known; it serves everybody.
    const waitMs = breaker.type === 'open' ? breaker.untilMs - nowMs : health.policy.openMs;
    return waitMs > 0 ? { type: 'closed-off', waitMs: Math.max(1, waitMs), failure } : undefined;
  }
}

/** When the next probe of the model is due; nothing where one is under way, or none is needed. */
export function probeDueMs({ account, models }: GateHealth, model: string): number | undefined {
  const breakers = [account.breaker, models.get(model)?.breaker ?? closedBreaker];
  if (breakers.some(({ type }) => type === 'half-open')) return undefined;
  const due = breakers.flatMap((breaker) => (breaker.type === 'open' ? [breaker.untilMs] : []));
  return due.length === 0 ? undefined : Math.max(...due);
}

/** Lets a request that nothing refuses through. Says whether it is the probe of anything. */
export function letThrough(
  health: GateHealth,
  model: string,
  { nowMs, probe }: { readonly nowMs: number; readonly probe: number },
): boolean {
  const account = admit(health.account.breaker, { nowMs, probe });
  if (account.admission.type === 'probe') health.account = { breaker: account.breaker, answers: [] };
  const own = health.models.get(model);
  const admitted = admit(own?.breaker ?? closedBreaker, { nowMs, probe });
  if (own !== undefined) own.breaker = admitted.breaker;
  if (health.cooldown !== undefined) health.coolProbe = probe;
  return (
    health.cooldown !== undefined || account.admission.type === 'probe' || admitted.admission.type === 'probe'
  );
}

/** Learns from the end of an attempt. Says whether the account was found to be of no use. */
export function learn(health: GateHealth, ending: Ending): boolean {
  const { model, health: seen, isSuccess, failure, probe, nowMs, weight } = ending;
  const isConnectFailure = failure?.phase === 'connect';
  const facts = { health: seen, model, isConnectFailure, probe, nowMs, weight };
  health.account = observeAccount(health.account, facts, health.policy);
  if (seen === 'down') health.accountFailure = failure;
  const own = ownOf(health, model);
  own.breaker = observe(own.breaker, { health: seen, probe, nowMs, weight }, health.policy);
  if (seen === 'down' || seen === 'refusing') own.failure = failure;
  // A web page or an empty body also comes from something that works; it is no answer.
  own.hasAnswered = isSuccess || (own.hasAnswered && own.breaker.type === 'closed');
  const isCoolProbe = probe !== undefined && health.coolProbe === probe;
  if (isCoolProbe) health.coolProbe = undefined;
  if (isSuccess) {
    endCooldown(health, model);
    own.limited = undefined;
  }
  const cooled = failure === undefined ? undefined : cooledBy(failure);
  if (failure === undefined || cooled === undefined) return false;
  if (cooled === 'model') {
    own.limited = coolDown(undefined, failure, nowMs);
    return false;
  }
  // Requests that were under way together find out the same thing; it counts once.
  const isNews = isCoolProbe || health.cooldown === undefined || nowMs >= health.cooldown.untilMs;
  if (isNews) health.cooldown = { ...coolDown(health.cooldown ?? own.limited, failure, nowMs), model };
  return true;
}

/** The account has answered for `model`, so only the model that was refused cools down from now on. */
function endCooldown(health: GateHealth, model: string): void {
  const { cooldown } = health;
  health.cooldown = undefined;
  if (cooldown !== undefined && cooldown.model !== model) ownOf(health, cooldown.model).limited = cooldown;
}

/** What says that the model is to be asked last, if anything does. */
export function coolingOf(
  { cooldown, models }: GateHealth,
  model: string,
  nowMs: number,
): Cooling | undefined {
  for (const cooling of [cooldown, models.get(model)?.limited]) {
    if (cooling === undefined || cooling.untilMs <= nowMs) continue;
    return { waitMs: cooling.untilMs - nowMs, failure: cooling.failure };
  }
  return undefined;
}

/** Lets only single probes to the model through from now on. */
export function throttleModel(health: GateHealth, model: string, { failure, nowMs }: Throttling): void {
  const own = ownOf(health, model);
  own.failure = failure;
  own.breaker = forceOpen(own.breaker, nowMs, health.policy);
}

interface Throttling {
  readonly failure: Failure;
  readonly nowMs: number;
}

/** Nothing is known that would be lost. */
export function isSpotless({ account, models, cooldown }: GateHealth): boolean {
  if (account.breaker.type !== 'closed' || cooldown !== undefined) return false;
  return [...models.values()].every(
    ({ breaker, limited }) => breaker.type === 'closed' && limited === undefined,
  );
}

function ownOf({ models }: GateHealth, model: string): ModelHealth {
  const known = models.get(model);
  if (known !== undefined) return known;
  if (models.size >= maxModels) {
    const oldest = [...models].find(([, { breaker }]) => breaker.type === 'closed') ?? [...models][0];
    if (oldest !== undefined) models.delete(oldest[0]);
  }
  const made: ModelHealth = {
    breaker: closedBreaker,
    hasAnswered: false,
    failure: undefined,
    limited: undefined,
  };
  models.set(model, made);
  return made;
}
