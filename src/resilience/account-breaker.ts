import { closedBreaker, isDown, observe, reopen } from './breaker.ts';
import type { Breaker, BreakerPolicy, Health } from './breaker.ts';

/**
 * The breaker of a provider and key, around those of its models. Pure. One model that is down says nothing about its siblings, so it opens
 * only where nearly all of the last answers failed and at least half of what that takes is the fault of no single model: other
 * models failed as well, or no connection stood.
 */
export interface AccountBreaker {
  readonly breaker: Breaker;
  /** The last answers while it is closed. */
  readonly answers: readonly Answer[];
}

interface Answer {
  readonly worked: boolean;
  /** Absent where no connection stood, which is no model's fault. */
  readonly model?: string;
}

export const closedAccount: AccountBreaker = { breaker: closedBreaker, answers: [] };

interface AccountObservation {
  readonly health: Health;
  readonly model: string;
  readonly isConnectFailure: boolean;
  readonly probe: number | undefined;
  readonly nowMs: number;
  readonly weight?: number | undefined;
}

/** Learns from the end of one attempt at one of the models. */
export function observeAccount(
  account: AccountBreaker,
  { health: seen, model, isConnectFailure, probe, nowMs, weight = 1 }: AccountObservation,
  policy: BreakerPolicy,
): AccountBreaker {
  const { breaker, answers } = account;
  const health = seen === 'refusing' ? 'working' : seen;
  if (breaker.type !== 'closed') {
    const observed = observe(breaker, { health, probe, nowMs }, policy);
    return observed === breaker ? account : { breaker: observed, answers: [] };
  }
  const worked = health === 'working';
  const isSpotless = worked && answers.length === policy.window && answers.every((answer) => answer.worked);
  if (health === 'none' || isSpotless) return account;
  const answer: Answer = isConnectFailure ? { worked } : { worked, model };
  const latest = [...answers, ...Array<Answer>(worked ? 1 : weight).fill(answer)].slice(-policy.window);
  const isOpen =
    isDown(
      latest.map((one) => one.worked),
      policy,
    ) && isOfSeveral(latest, policy);
  return isOpen ? { breaker: reopen(0, nowMs, policy), answers: [] } : { breaker, answers: latest };
}

function isOfSeveral(answers: readonly Answer[], { minAnswers }: BreakerPolicy): boolean {
  const failures = answers.filter(({ worked }) => !worked);
  const ofModel = new Map<string, number>();
  for (const { model } of failures) {
    if (model !== undefined) ofModel.set(model, (ofModel.get(model) ?? 0) + 1);
  }
  return failures.length - Math.max(0, ...ofModel.values()) >= minAnswers / 2;
}
