import { unreachable } from '../base/assert.ts';
import { isRecord } from '../base/json.ts';
import { adviseName } from '../base/nearest.ts';
import { isPromiseLike } from '../base/promise-like.ts';
import { causesOf } from '../errors/classify/causes.ts';
import { maxDelayMs } from '../errors/classify/duration.ts';
import { describeThrown } from '../errors/classify/safe-read.ts';
import { failureTraits } from '../errors/codes.ts';
import type { FailureCode } from '../errors/codes.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { showValue } from '../model/check/show-value.ts';
import type { ModelResponse } from '../model/model.ts';

/** What a failure was read from, as it came: not redacted, so keep it out of logs. */
export interface FailureEvidence {
  readonly status?: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The beginning of what the provider answered. */
  readonly body?: string;
  /** What was thrown. */
  readonly error?: unknown;
}

/** What `classifyError` says about a failure. A field that is absent stays as it was. */
export interface FailureVerdict {
  readonly code?: FailureCode;
  /** Where the code changes and this is absent, the table of codes says it. */
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
}

/**
 * Corrects how a failure of the provider is classified. Answers at once, with nothing where Rerail is right. It decides what the failure is
 * and never retries by itself. A cancellation, a wrong set-up and a defect of the caller are not shown to it.
 */
export type ClassifyError = (failure: Failure, evidence: FailureEvidence) => FailureVerdict | undefined;

/** The response with the caller's verdict on its failure. A success stays one, and a failure never becomes one. Never throws. */
export function withVerdict(
  response: ModelResponse,
  classify: ClassifyError | undefined,
  evidence: () => FailureEvidence,
): ModelResponse {
  if (classify === undefined || response.type === 'success' || !isOfProvider(response.failure))
    return response;
  return { ...response, failure: correct(response.failure, askFor(classify, response.failure, evidence)) };
}

function isOfProvider({ code, origin }: Failure): boolean {
  return origin === 'model' && code !== 'CANCELLED';
}

type Said =
  | { readonly type: 'none' }
  | { readonly type: 'verdict'; readonly verdict: FailureVerdict }
  | { readonly type: 'broken'; readonly why: string; readonly thrown?: unknown };

function askFor(classify: ClassifyError, failure: Failure, evidence: () => FailureEvidence): Said {
  try {
    const said: unknown = classify(failure, evidence());
    if (said === undefined || said === null) return { type: 'none' };
    if (isPromiseLike(said)) {
      // Its end is of no interest, and its rejection must not be one that nobody handles.
      said.then(undefined, () => undefined);
      return { type: 'broken', why: 'it gave a promise: it must answer at once' };
    }
    if (!isRecord(said)) return { type: 'broken', why: 'its answer is no verdict' };
    // Copied first: what is checked is what is used.
    const verdict: Readonly<Record<string, unknown>> = { ...said };
    const problem = Object.entries(verdict)
      .map(([name, value]) => problemWith(name, value))
      .find((found) => found !== undefined);
    return problem === undefined ? { type: 'verdict', verdict } : { type: 'broken', why: problem };
  } catch (error) {
    // What matters is the failure; that its classifier threw is a remark.
    return { type: 'broken', why: `it threw: ${describeThrown(error)}`, thrown: error };
  }
}

const rules: Readonly<Record<keyof FailureVerdict, (value: unknown) => boolean>> = {
  code: (value) => typeof value === 'string' && isCodeOfProvider(value),
  retryable: (value) => typeof value === 'boolean',
  retryAfterMs: (value) => typeof value === 'number' && value >= 0 && value <= maxDelayMs,
};

function problemWith(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!Object.hasOwn(rules, name))
    return `there is no field "${name.slice(0, 64)}": ${adviseName(name, Object.keys(rules))}`;
  const isLegal = rules[name as keyof FailureVerdict]; // Looked up one line above.
  return isLegal(value) ? undefined : `its "${name}" is not legal: ${showValue(value)}`;
}

/** A code that a model can fail with. What was not cancelled cannot be declared so. */
function isCodeOfProvider(code: string): boolean {
  if (!Object.hasOwn(failureTraits, code) || code === 'CANCELLED') return false;
  const codeOrigins: readonly string[] = failureTraits[code as FailureCode].origins; // Looked up just now.
  return codeOrigins.includes('model');
}

function correct(failure: Failure, said: Said): Failure {
  switch (said.type) {
    case 'none':
      return failure;
    case 'broken':
      return createFailure(failure.code, {
        ...failure,
        context: { ...failure.context, classifyError: said.why },
        causes: [...failure.causes, ...causesOf(said.thrown)],
      });
    case 'verdict': {
      const { code = failure.code, retryable, retryAfterMs } = said.verdict;
      const usual = code === failure.code ? failure.retryable : failureTraits[code].retryable;
      const waitMs = retryAfterMs ?? failure.retryAfterMs;
      return createFailure(code, {
        ...failure,
        retryable: retryable ?? usual,
        ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
        classifiedBy: 'declared',
        context: {
          ...failure.context,
          ...(code === failure.code ? {} : { classifiedBefore: failure.code }),
        },
      });
    }
    default:
      return unreachable(said);
  }
}
