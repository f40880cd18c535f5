import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

/** One thing that was looked at. */
export interface Check {
  /** `clock`, `sandbox`. */
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failure';
  /** What was found, in whole sentences or as a fact without a full stop. */
  readonly text: string;
  /** What to do about it. */
  readonly advice?: string;
  /** For `failure`: it decides about the exit code. */
  readonly failure?: Failure;
}

/** A check that found something wrong. */
export function failedCheck(name: string, failure: Failure): Check {
  return { name, status: 'failure', text: failure.message, failure };
}

/** The failure of a thrown error, which the report shows. Interruptions and defects are not failures. */
export function failureOf(thrown: unknown): Failure {
  if (!RerailError.isInstance(thrown) || thrown.code === 'CANCELLED') throw thrown;
  return thrown.failure;
}
