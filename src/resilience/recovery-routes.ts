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
}

const outage: RecoveryRoute = { retries: 'policy', fallback: 'always', isOutage: true };
const busy: RecoveryRoute = { retries: 'policy', fallback: 'always', isOutage: false };
const onceMore: RecoveryRoute = { retries: 1, fallback: 'always', isOutage: false };
const elsewhere: RecoveryRoute = { retries: 0, fallback: 'always', isOutage: false };
const end: RecoveryRoute = { retries: 0, fallback: 'never', isOutage: false };

export const recoveryRoutes: Readonly<Record<FailureCode, RecoveryRoute>> = {
  OVERLOADED: outage,
  SERVER_ERROR: outage,
  NETWORK_ERROR: outage,
  TIMEOUT: outage,
  STREAM_INTERRUPTED: outage,
  // Both say 'not now' and not 'down': the server answers, and says when to come back.
  RATE_LIMITED: busy,
  MODEL_LOADING: busy,
  // A login page, a garbled call or an empty answer may be an accident once; twice it is a habit.
  INVALID_RESPONSE: onceMore,
  EMPTY_RESPONSE: onceMore,
  TOOL_CALL_INVALID: onceMore,
  // Nothing that waiting would mend, but another provider has another key, budget or window.
  AUTHENTICATION_ERROR: elsewhere,
  PERMISSION_DENIED: elsewhere,
  QUOTA_EXCEEDED: elsewhere,
  MODEL_NOT_FOUND: elsewhere,
  PROVIDER_NOT_CONFIGURED: elsewhere,
  PROVIDER_NOT_SUPPORTED: elsewhere,
  CONTEXT_LENGTH_EXCEEDED: elsewhere,
  REQUEST_TOO_LARGE: elsewhere,
  UNKNOWN: elsewhere,
  // To ask another model what one model would not answer is the caller's decision.
  CONTENT_FILTERED: { retries: 0, fallback: 'if-allowed', isOutage: false },
  // The request itself is at fault, or somebody wished the end.
  INVALID_REQUEST: end,
  OUTPUT_TRUNCATED: end,
  CONFIG_ERROR: end,
  CANCELLED: end,
  INTERNAL: end,
  VALIDATION_ERROR: end,
  SERIALIZATION_ERROR: end,
  ALREADY_REGISTERED: end,
  NOT_REGISTERED: end,
  TOOL_EXECUTION_ERROR: end,
  IO_ERROR: end,
  NOT_FOUND: end,
  STORAGE_NOT_FOUND: end,
  STORAGE_CORRUPT: end,
  STORAGE_LOCKED: end,
  STORAGE_FULL: end,
  STORAGE_IO: end,
};
