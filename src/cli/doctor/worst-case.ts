import { resolveLimits } from '../../agent/limits.ts';
import type { RunLimits } from '../../agent/limits.ts';
import type { PermissionRule } from '../../agent/approval/permission.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Model } from '../../model/model.ts';
import { costOf } from '../../model/price.ts';
import { completeTimeouts } from '../../model/stream-watch.ts';
import type { Timeouts } from '../../model/timeouts.ts';
import type { Tool } from '../../model/tool.ts';
import { priceOf } from '../../providers/prices.ts';
import { decideNext } from '../../resilience/decide.ts';
import { resolveRetryPolicy } from '../../resilience/retry-policy.ts';
import type { RetryOption, RetryPolicy } from '../../resilience/retry-policy.ts';
import { findWarnings } from './worst-case-warnings.ts';
import type { ConfigWarning } from './worst-case-warnings.ts';

/** A configuration, as an agent would be made of it. What is absent has its default. */
export interface WorstCaseInput {
  readonly limits?: Partial<RunLimits> | undefined;
  readonly retry?: RetryOption | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly models: readonly Model[];
  readonly tools?: readonly Tool[] | undefined;
  readonly permissions?: readonly PermissionRule[] | undefined;
}

/**
 * The most that a configuration can come to, found by asking the real policy what it would decide about attempts that all fail.
 * `Infinity`: nothing bounds it.
 */
export interface WorstCase {
  /** To all models of the chain, for one question. */
  readonly requestsPerCall: number;
  /** With the continuations of an answer that is cut off, and once with a shorter conversation. */
  readonly requestsPerTurn: number;
  readonly requestsPerRun: number;
  /** Attempts, waits and tools; at most the time of the run. */
  readonly longestTurnMs: number;
  /** Active time: what is spent waiting for a person does not count. */
  readonly longestRunMs: number;
  /** Of the models whose price is known, at `assumedTokens` a request. Absent where none is known. */
  readonly costPerTurnUsd?: number;
  readonly assumedTokens: { readonly input: number; readonly output: number };
  /** Models whose price is not known: what they cost comes on top. */
  readonly withoutPrice: readonly string[];
  readonly warnings: readonly ConfigWarning[];
}

/**
 * Says what a configuration can come to at worst. Two things are not in it: requests that tools make by `assist`, and summaries of the
 * conversation. `limits.maxRequests` and `limits.maxCostUsd` bound those too.
 */
export function worstCaseOf(input: WorstCaseInput): WorstCase {
  const { models, tools = [], permissions = [] } = input;
  const limits = resolveLimits(input.limits);
  const policy = resolveRetryPolicy(input.retry);
  const timeouts = completeTimeouts({ totalMs: limits.modelTimeoutMs, ...input.timeouts });
  const requests = mostRequests(policy, models.length);
  const requestsPerCall = sum(requests);
  const callsPerTurn = 1 + limits.maxContinuations + 1;
  const requestsPerTurn = Math.min(requestsPerCall * callsPerTurn, limits.maxRequests);
  const lastTurn = 1;
  const requestsPerRun = Math.min(requestsPerTurn * (limits.maxTurns + lastTurn), limits.maxRequests);
  const modelMs = longestCall(policy, { models: models.length, attemptMs: timeouts.totalMs }) * callsPerTurn;
  const turnMs = modelMs + longestTools(tools, limits, policy);
  return {
    requestsPerCall,
    requestsPerTurn,
    requestsPerRun,
    longestTurnMs: Math.min(turnMs, limits.timeoutMs),
    longestRunMs: limits.timeoutMs,
    ...costs(models, { requests, callsPerTurn, limits }),
    assumedTokens,
    warnings: findWarnings({ models, tools, permissions, limits, policy, attemptMs: timeouts.totalMs }),
  };
}

/** What a long conversation and a long answer take. */
const assumedTokens = { input: 100_000, output: 8000 } as const;

/** Beyond so many a bound is none. */
const maxSteps = 100_000;

interface Pace {
  readonly models: number;
  readonly attemptMs: number;
  /** What the other side asks for; 0 says nothing. */
  readonly askedMs: number;
  /** In [0, 1). */
  readonly drawn: number;
  /** Accidents at a model that answers now and then, or limits. */
  readonly isQuick: boolean;
}

interface Played {
  /** By model. */
  readonly requests: readonly number[];
  readonly elapsedMs: number;
}

/** Every attempt fails at once by an accident, and asks to be tried again at once: a wait of its own would be longer. */
function mostRequests(policy: RetryPolicy, models: number): readonly number[] {
  const paces = [0, 1].map((askedMs) => ({ models, attemptMs: 0, askedMs, drawn: 0, isQuick: true }));
  const played = paces.map((pace) => playCall(policy, pace).requests);
  return played.toSorted((one, other) => sum(other) - sum(one))[0] ?? [];
}

/** Every attempt takes as long as it may, and so does every wait. */
function longestCall(policy: RetryPolicy, pace: Pick<Pace, 'models' | 'attemptMs'>): number {
  const nearlyOne = 1 - Number.EPSILON;
  const paces = [true, false].flatMap((isQuick) =>
    [0, policy.maxWaitMs].map((askedMs) => ({ ...pace, askedMs, drawn: nearlyOne, isQuick })),
  );
  return Math.max(...paces.map((each) => playCall(policy, each).elapsedMs));
}

/** Plays one call by the decisions of the real policy. The retry budget that calls share is left out: it can only end it sooner. */
function playCall(policy: RetryPolicy, { models, attemptMs, askedMs, drawn, isQuick }: Pace): Played {
  const failure = createFailure(isQuick ? 'SERVER_ERROR' : 'RATE_LIMITED', {
    origin: 'model',
    message: 'Played',
    ...(askedMs > 0 ? { retryAfterMs: askedMs } : {}),
  });
  const requests = Array.from({ length: models }, () => 0);
  let elapsedMs = 0;
  let model = 0;
  for (let steps = 0; model < models; steps += 1) {
    if (steps >= maxSteps) return { requests: requests.map(() => Infinity), elapsedMs: policy.deadlineMs };
    const attempts = (requests[model] ?? 0) + 1;
    requests[model] = attempts;
    elapsedMs = Math.min(elapsedMs + attemptMs, policy.deadlineMs);
    const decision = decideNext(
      {
        failure,
        attempts,
        sameKindBefore: attempts - 1,
        isAnswering: isQuick,
        leftMs: policy.deadlineMs - elapsedMs,
        drawn,
        spendRetry: () => true,
        hasNextModel: model + 1 < models,
      },
      { retry: policy, fallBackOnFilter: true },
    );
    if (decision.type === 'give-up') break;
    if (decision.type === 'retry') elapsedMs += decision.delayMs;
    else model += 1;
  }
  return { requests, elapsedMs };
}

/** As many calls as an answer may have, so many at a time, each as slow as the slowest tool. */
function longestTools(tools: readonly Tool[], limits: RunLimits, policy: RetryPolicy): number {
  const calls = Math.min(limits.maxCallsPerTurn, limits.maxToolCalls);
  const rounds = Math.ceil(calls / limits.maxConcurrentTools);
  const retry = { ...policy, deadlineMs: limits.timeoutMs };
  const slowest = tools.map(({ effect, timeoutMs }) => {
    const most = effect === 'once' ? 1 : Math.min(policy.maxAttempts, limits.maxToolAttempts);
    return longestCall(
      { ...retry, maxAttempts: most, maxQuickAttempts: most },
      { models: 1, attemptMs: timeoutMs },
    );
  });
  return rounds * Math.max(0, ...slowest);
}

interface Spending {
  /** Of one call, by model. */
  readonly requests: readonly number[];
  readonly callsPerTurn: number;
  readonly limits: RunLimits;
}

function costs(
  models: readonly Model[],
  { requests, callsPerTurn, limits }: Spending,
): Pick<WorstCase, 'costPerTurnUsd' | 'withoutPrice'> {
  const usage = { inputTokens: assumedTokens.input, outputTokens: assumedTokens.output };
  const each = models.map(({ provider, name, price }) => costOf(usage, price ?? priceOf(provider, name)));
  const withoutPrice = models.filter((_model, index) => each[index] === undefined).map(nameOf);
  const known = each.filter((cost) => cost !== undefined);
  if (known.length === 0) return { withoutPrice };
  // Any number of requests that are free cost nothing.
  const costOfModel = (cost = 0, index = 0): number => (cost === 0 ? 0 : cost * (requests[index] ?? 0));
  const perCall = sum(each.map((cost, index) => costOfModel(cost, index)));
  const dearest = Math.max(...known);
  // A bound is looked at before a request, so that the last one may go beyond it.
  const ofRequests = limits.maxRequests === Infinity ? Infinity : limits.maxRequests * dearest;
  const most = Math.min(perCall * callsPerTurn, limits.maxCostUsd + dearest, ofRequests);
  return { costPerTurnUsd: most, withoutPrice };
}

function nameOf({ provider, name }: Model): string {
  return `${provider}:${name}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
