/**
 * Tokens that all calls of one provider and key share in this process. A retry costs some, a success gives some back: in
 * an outage retries run dry instead of multiplying, and as long as about half of the requests succeed they never do.
 */
export interface RetryBudget {
  readonly tokens: number;
  readonly capacity: number;
}

const retryCost = 5;
// More than a retry's cost: at 50 % faults a call needs one retry on average, and only half of the calls come back here.
const smoothSuccessGain = 10;

const defaultBudgetTokens = 500;

/** A full budget. */
export function createRetryBudget(tokens: number = defaultBudgetTokens): RetryBudget {
  return { tokens, capacity: Math.max(tokens, defaultBudgetTokens) };
}

/** Takes the price of one retry, or says that it is spent. */
export function spendRetry(budget: RetryBudget): {
  readonly isGranted: boolean;
  readonly budget: RetryBudget;
} {
  if (budget.tokens < retryCost) return { isGranted: false, budget };
  return { isGranted: true, budget: { ...budget, tokens: budget.tokens - retryCost } };
}

/** Gives back after a success: what its last retry cost, and more if it needed none. */
export function refundSuccess(budget: RetryBudget, { retries }: { readonly retries: number }): RetryBudget {
  // Nearly always it is full, and then nothing changes.
  if (budget.tokens >= budget.capacity) return budget;
  const gain = retries > 0 ? retryCost : smoothSuccessGain;
  return { ...budget, tokens: Math.min(budget.capacity, budget.tokens + gain) };
}
