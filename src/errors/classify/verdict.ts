import type { FailureCode } from '../codes.ts';
import type { ClassifiedBy } from '../failure.ts';

/** What a table knows about one sign of failure. Without `retryable` the code's own default holds. */
export interface Sign {
  readonly code: FailureCode;
  readonly retryable?: boolean | undefined;
}

/** A decision and what it rests on. */
export interface Verdict {
  readonly code: FailureCode;
  readonly retryable: boolean | undefined;
  readonly by: ClassifiedBy;
  /** In words, for `context.because`. */
  readonly because: string;
}

/** Written out, for copying by spread is what a classification would spend most of its time on. */
export function verdictOf({ code, retryable }: Sign, by: ClassifiedBy, because: string): Verdict {
  return { code, retryable, by, because };
}

/** A phrase that means one thing. `example` is a sentence as providers write it; a test holds the pattern to it. */
export interface WordingRule extends Sign {
  /** Matched against normalised words: lower case, no quotes, no addresses, single spaces. Must be linear. */
  readonly pattern: RegExp;
  readonly example: string;
  /** Means this even where the provider's own error code says something coarser. */
  readonly overrides?: true;
}
