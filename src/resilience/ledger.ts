/** What a call, or a run, has used up so far. Unknown amounts are counted as unknown, never guessed and never NaN. */
export interface Ledger {
  /** Requests that were really sent, as the provider would count them. */
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input tokens that came from the provider's cache; absent where none did. */
  readonly cacheReadTokens?: number;
  /** Requests after which the provider may have charged tokens that it never told. */
  readonly unknownUsage: number;
  readonly costUsd: number;
  /** Requests whose cost is not known: no price, or no usage. */
  readonly unknownCost: number;
  /** Time spent waiting between attempts. */
  readonly waitedMs: number;
  /** Tokens of attempts that came to nothing. */
  readonly lostTokens: number;
}

export const emptyLedger: Ledger = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  unknownUsage: 0,
  costUsd: 0,
  unknownCost: 0,
  waitedMs: 0,
  lostTokens: 0,
};

/** What one attempt adds. */
export interface AttemptCharge {
  /** Whether a request left this process. A refused connection sent none. */
  readonly wasSent: boolean;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cacheReadTokens?: number | undefined;
  readonly costUsd?: number | undefined;
  readonly isLost: boolean;
  /** Requests before that were lost with a kept connection: nobody knows whether the provider has charged for them. */
  readonly resent?: number | undefined;
}

/** Adds one attempt. */
export function chargeAttempt(ledger: Ledger, charge: AttemptCharge): Ledger {
  if (!charge.wasSent) return ledger;
  const { inputTokens, outputTokens, costUsd, resent = 0 } = charge;
  const isUsageKnown = inputTokens !== undefined && outputTokens !== undefined;
  const tokens = (inputTokens ?? 0) + (outputTokens ?? 0);
  return {
    requests: ledger.requests + 1 + resent,
    inputTokens: ledger.inputTokens + (inputTokens ?? 0),
    outputTokens: ledger.outputTokens + (outputTokens ?? 0),
    unknownUsage: ledger.unknownUsage + (isUsageKnown ? 0 : 1) + resent,
    costUsd: ledger.costUsd + (costUsd ?? 0),
    unknownCost: ledger.unknownCost + (costUsd === undefined ? 1 : 0) + resent,
    waitedMs: ledger.waitedMs,
    lostTokens: ledger.lostTokens + (charge.isLost ? tokens : 0),
    ...cached(ledger.cacheReadTokens, charge.cacheReadTokens),
  };
}

/** Adds a wait. */
export function chargeWait(ledger: Ledger, waitedMs: number): Ledger {
  return { ...ledger, waitedMs: ledger.waitedMs + waitedMs };
}

/** Both together. */
export function addLedgers(one: Ledger, other: Ledger): Ledger {
  return {
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    unknownUsage: one.unknownUsage + other.unknownUsage,
    costUsd: one.costUsd + other.costUsd,
    unknownCost: one.unknownCost + other.unknownCost,
    waitedMs: one.waitedMs + other.waitedMs,
    lostTokens: one.lostTokens + other.lostTokens,
    ...cached(one.cacheReadTokens, other.cacheReadTokens),
  };
}

/** The first without the second. */
export function subtractLedgers(one: Ledger, other: Ledger): Ledger {
  return {
    requests: one.requests - other.requests,
    inputTokens: one.inputTokens - other.inputTokens,
    outputTokens: one.outputTokens - other.outputTokens,
    unknownUsage: one.unknownUsage - other.unknownUsage,
    costUsd: one.costUsd - other.costUsd,
    unknownCost: one.unknownCost - other.unknownCost,
    waitedMs: one.waitedMs - other.waitedMs,
    lostTokens: one.lostTokens - other.lostTokens,
    ...cached(one.cacheReadTokens, -(other.cacheReadTokens ?? 0)),
  };
}

function cached(one = 0, other = 0): Pick<Ledger, 'cacheReadTokens'> {
  const cacheReadTokens = one + other;
  return cacheReadTokens > 0 ? { cacheReadTokens } : {};
}

/** The most that may be used up. What is absent has no bound. */
export interface LedgerLimits {
  readonly maxRequests?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly maxCostUsd?: number | undefined;
}

/** Which bound forbids another attempt, if one does. */
export function spentLimit(ledger: Ledger, limits: LedgerLimits): keyof LedgerLimits | undefined {
  if (ledger.requests >= (limits.maxRequests ?? Infinity)) return 'maxRequests';
  if (ledger.inputTokens + ledger.outputTokens >= (limits.maxTokens ?? Infinity)) return 'maxTokens';
  if (ledger.costUsd >= (limits.maxCostUsd ?? Infinity)) return 'maxCostUsd';
  return undefined;
}
