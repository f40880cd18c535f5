import type { FailureCode } from '../errors/codes.ts';
import type { Failure } from '../errors/failure.ts';
import { recoveryRoutes } from './recovery-routes.ts';

/** What counts as the same failure again: a code, or a kind of it that is worth fewer attempts than the rest. */
export type FailureKind = FailureCode | keyof typeof narrowKinds;

/** A list of failures would grow with the patience of the call; their numbers do not. */
export type FailureCounts = Readonly<Partial<Record<FailureKind, number>>>;

const narrowKinds = {
  /** A name that does not resolve is most often a typing error in the base URL: one more look is enough. */
  NAME_NOT_FOUND: 1,
  /** A login page may be an accident once; twice it stands in the way, and no attempt will get past it. */
  NO_ANSWER: 1,
} as const satisfies Record<string, number>;

/** By structure only: by what was noted where the failure was made. */
export function kindOf({ code, causes, context }: Failure): FailureKind {
  if (causes.some((cause) => cause.code === 'ENOTFOUND')) return 'NAME_NOT_FOUND';
  return code === 'INVALID_RESPONSE' && context['isNoAnswer'] === true ? 'NO_ANSWER' : code;
}

const maxAccidents = 3;

/**
 * How often a failure of this kind may be followed by another attempt at the same model, besides what the policy allows. Where the model
 * has answered lately, a name that does not resolve or a web page is more likely an accident.
 */
export function maxRepeatsOf(failure: Failure, isAnswering = false): number {
  const kind = kindOf(failure);
  if (kind === 'NAME_NOT_FOUND' || kind === 'NO_ANSWER')
    return isAnswering ? maxAccidents : narrowKinds[kind];
  const { retries } = recoveryRoutes[kind];
  return retries === 'policy' ? Infinity : retries;
}

/** This machine ran out of something for a moment, and nothing was sent: it says nothing about the provider. */
export function isShortage({ context }: Failure): boolean {
  return context['shortage'] !== undefined;
}

/** Whether it is likely over at once. What a crowded machine lacks is not: all that wait would come back together. */
export function isQuickFailure(failure: Failure): boolean {
  return recoveryRoutes[failure.code].isQuick === true && !isShortage(failure);
}

/** Whoever has not said a word for so long has used up a timer, if not one of ours. */
const silentMs = 10_000;

/** Whether a failure of an attempt that took so long has used up a timer. */
export function hasUsedTimer({ code, phase }: Failure, tookMs: number): boolean {
  return recoveryRoutes[code].isSlow === true || (tookMs >= silentMs && phase !== 'body');
}

/** Three in a row that each took so long are as plain as ten that failed at once. */
const slowWeight = 4;

/** How many failures an attempt counts as to the breakers; `resent` are requests of it that were lost besides the last. */
export function weightOf(failure: Failure, { tookMs, resent = 0 }: Taken): number {
  return tookMs >= silentMs && hasUsedTimer(failure, tookMs) ? slowWeight : 1 + resent;
}

interface Taken {
  readonly tookMs: number;
  readonly resent: number | undefined;
}

/** How often failures of the same pace were followed by another attempt: their waits grow together. */
export function countPace(counts: FailureCounts, { code }: Failure): number {
  const isQuick = recoveryRoutes[code].isQuick === true;
  return Object.entries(counts).reduce((sum, [kind, count]) => {
    const isSame = (kind in narrowKinds || recoveryRoutes[kind as FailureCode].isQuick === true) === isQuick; // The other kinds are codes.
    return isSame ? sum + count : sum;
  }, 0);
}
