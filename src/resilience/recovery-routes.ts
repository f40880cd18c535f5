// Table: what a call does about each failure. The compiler asks for a row per code.

import type { FailureCode } from '../errors/codes.ts';

/** The way a failed attempt goes on. `retryable` on the failure itself always has the last word on retrying. */
export interface RecoveryRoute {
  /** How often the same model is asked again: as the policy says, at most so often, or never. */
  readonly retries: 'policy' | 1 | 0;
  /** Whether another model may be asked afterwards: always, only where the caller allows it, or never. */
  readonly fallback: 'always' | 'if-allowed' | 'never';
  /** Whether the failure says that the provider itself is down, which is what the breaker wants to know. */
  readonly isOutage: boolean;
  /** The provider works, but this model gave no answer: nothing to go on asking for, where it is all that comes. */
  readonly isRefusal?: true;
  /** The failure is of our own making or of unknown origin: it says nothing about the provider. */
  readonly isOurs?: true;
  /** An accident that is likely over at once: the first wait is `quickDelayMs` instead of `baseDelayMs`. */
  readonly isQuick?: true;
  /** It used up a timer, so the next model is asked first, and this one again only where no other is left. */
  readonly isSlow?: true;
  /** It is about the account or the key: the next key of a pool is asked before anything else. */
  readonly isOfKey?: true;
  /** What is asked last for a while, by every call of the process: the account, or this model of it. */
  readonly cools?: 'account' | 'model';
}

const outage: RecoveryRoute = { retries: 'policy', fallback: 'always', isOutage: true };
const accident: RecoveryRoute = { ...outage, isQuick: true };
const again: RecoveryRoute = { retries: 'policy', fallback: 'always', isOutage: false };
const onceMore: RecoveryRoute = { retries: 1, fallback: 'always', isOutage: false, isQuick: true };
const elsewhere: RecoveryRoute = { retries: 0, fallback: 'always', isOutage: false };
const end: RecoveryRoute = { retries: 0, fallback: 'never', isOutage: false };
const account: RecoveryRoute = { ...elsewhere, isOfKey: true, cools: 'account' };
const ours: RecoveryRoute = { ...end, isOurs: true };

export const recoveryRoutes: Readonly<Record<FailureCode, RecoveryRoute>> = {
  OVERLOADED: outage,
  SERVER_ERROR: accident,
  NETWORK_ERROR: accident,
  STREAM_INTERRUPTED: accident,
  TIMEOUT: { ...accident, isSlow: true },
  // Both say 'not now' and not 'down': the server answers, and says when to come back.
  RATE_LIMITED: { ...again, isRefusal: true, isOfKey: true, cools: 'model' },
  MODEL_LOADING: { ...again, isRefusal: true },
  // Garbled on its way: the next one may be whole. A page instead of an answer is less patient: see failure-kind.ts.
  INVALID_RESPONSE: { ...again, isRefusal: true, isQuick: true },
  // A garbled call or an empty answer may be an accident once; twice it is a habit.
  EMPTY_RESPONSE: onceMore,
  TOOL_CALL_INVALID: onceMore,
  // Nothing that waiting would mend, but another provider has another key, budget or window.
  AUTHENTICATION_ERROR: account,
  QUOTA_EXCEEDED: account,
  // Another key may have the right to use the model, or to see it.
  PERMISSION_DENIED: { ...elsewhere, isOfKey: true },
  MODEL_NOT_FOUND: { ...elsewhere, isOfKey: true },
  PROVIDER_NOT_CONFIGURED: { ...elsewhere, isOurs: true },
  PROVIDER_NOT_SUPPORTED: { ...elsewhere, isOurs: true },
  CONTEXT_LENGTH_EXCEEDED: elsewhere,
  REQUEST_TOO_LARGE: elsewhere,
  UNKNOWN: { ...elsewhere, isOurs: true },
  // To ask another model what one model would not answer is the caller's decision.
  CONTENT_FILTERED: { retries: 0, fallback: 'if-allowed', isOutage: false },
  // The request itself is at fault, or somebody wished the end.
  INVALID_REQUEST: end,
  OUTPUT_TRUNCATED: end,
  CONFIG_ERROR: ours,
  CANCELLED: ours,
  INTERNAL: ours,
  VALIDATION_ERROR: ours,
  SERIALIZATION_ERROR: ours,
  ALREADY_REGISTERED: ours,
  NOT_REGISTERED: ours,
  TOOL_EXECUTION_ERROR: ours,
  TOOL_NOT_FOUND: ours,
  UNKNOWN_OUTCOME: ours,
  OUTPUT_PARSE_ERROR: ours,
  COMPACTION_FAILED: ours,
  MAX_ITERATIONS_EXCEEDED: ours,
  BUDGET_EXCEEDED: ours,
  ENDLESS_LOOP: ours,
  INVALID_STATE: ours,
  HOOK_FAILED: ours,
  HOOK_TERMINATED: ours,
  INITIALIZATION_ERROR: ours,
  FLOW_INVALID: ours,
  FLOW_CYCLE: ours,
  MAX_HANDOFFS_EXCEEDED: ours,
  PLAN_INVALID: ours,
  REPLAN_LIMIT: ours,
  IO_ERROR: ours,
  PATH_OUTSIDE_WORKSPACE: ours,
  SANDBOX_SETUP_FAILED: ours,
  SANDBOX_EXECUTION_FAILED: ours,
  NOT_FOUND: ours,
  ACTIVITY_FAILED: ours,
  SIGNAL_TIMEOUT: ours,
  HISTORY_LIMIT: ours,
  STORAGE_NOT_FOUND: ours,
  STORAGE_CORRUPT: ours,
  STORAGE_LOCKED: ours,
  STORAGE_FULL: ours,
  STORAGE_IO: ours,
  STORAGE_READ_ONLY: ours,
  STORAGE_LOST: ours,
  STORAGE_DIVERGED: ours,
  STORAGE_NEWER_SCHEMA: ours,
};
