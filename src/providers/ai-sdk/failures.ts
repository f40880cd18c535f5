import { isRecord } from '../../base/json.ts';
import { classifyProviderFailure } from '../../errors/classify-provider-failure.ts';
import type { ResponseHeaders } from '../../errors/classify/evidence.ts';
import type { FailureCode } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure, FailureDetails, Phase } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { FailureEvidence } from '../classify-error.ts';
import { familyOf } from './language-model.ts';
import type { CheckedModel } from './language-model.ts';
import type { AiSdkFinish } from './read-finish.ts';

type Who = Pick<CheckedModel, 'provider' | 'modelId'>;

/** A failure of a call to this model, for what we see ourselves. */
export function modelFailure(code: FailureCode, who: Who, details: FailureDetails): Failure {
  return createFailure(code, {
    origin: 'model',
    sideEffect: 'possible',
    provider: { provider: familyOf(who), model: who.modelId },
    ...details,
  });
}

/** The model's name in a sentence. */
export function nameOfModel(who: Who): string {
  return `${familyOf(who)} (${who.modelId})`;
}

interface Thrown {
  readonly phase: Phase;
  /** The wall clock, for dates in headers. */
  readonly nowMs: number;
}

/** What a thrown value, or the value inside an `error` part, means. */
export function failureOfThrown(error: unknown, who: Who, { phase, nowMs }: Thrown): Failure {
  const carried = carriedFailure(error);
  // Whoever threw it has retried as far as that makes sense; to retry on top would multiply the requests.
  if (carried !== undefined) return createFailure(carried.code, { ...carried, retryable: false });
  const declared = codeOfMarker(error);
  if (declared !== undefined) {
    return modelFailure(declared, who, {
      message: `The call to ${nameOfModel(who)} could not be made: ${messageOf(error)}`,
      classifiedBy: 'type',
      sideEffect: 'none',
    });
  }
  const failure = classifyProviderFailure({
    provider: familyOf(who),
    model: who.modelId,
    now: nowMs,
    ...(isApiCallError(error) ? readApiCallError(error) : {}),
    // A stream may end with `undefined` as its error: then there is no more to say than that.
    error: error ?? 'the model reported an error without saying which',
  });
  if (failure.phase !== undefined || phase === 'headers') return failure;
  return createFailure(failure.code, { ...failure, phase, sideEffect: 'possible' });
}

/** A model that is itself guarded by Rerail throws what it has already judged. */
function carriedFailure(error: unknown): Failure | undefined {
  const cause = isRecord(error) ? error['cause'] : undefined;
  return [error, cause].find((link) => RerailError.isInstance(link))?.failure;
}

/** Errors of the AI SDK about the call itself, made before anything was sent. */
const codesByMarker: Readonly<Record<string, FailureCode>> = {
  AI_LoadAPIKeyError: 'PROVIDER_NOT_CONFIGURED',
  AI_LoadSettingError: 'PROVIDER_NOT_CONFIGURED',
  AI_UnsupportedFunctionalityError: 'INVALID_REQUEST',
  AI_InvalidPromptError: 'INVALID_REQUEST',
  AI_InvalidArgumentError: 'INVALID_REQUEST',
};

function codeOfMarker(error: unknown): FailureCode | undefined {
  const marker = Object.keys(codesByMarker).find((name) => hasMarker(error, name));
  return marker === undefined ? undefined : codesByMarker[marker];
}

/** The AI SDK marks its errors by symbols of the global registry, since classes differ between two copies of it. */
function hasMarker(error: unknown, name: string): boolean {
  return isRecord(error) && Reflect.get(error, Symbol.for(`vercel.ai.error.${name}`)) === true;
}

function isApiCallError(error: unknown): error is Readonly<Record<string, unknown>> {
  if (hasMarker(error, 'AI_APICallError')) return true;
  return isRecord(error) && typeof error['statusCode'] === 'number' && 'responseBody' in error;
}

/** Only what has the promised type: the classifier looks at the rest of the error itself. */
function readApiCallError({ statusCode, responseHeaders, responseBody }: Readonly<Record<string, unknown>>): {
  readonly status?: number;
  readonly headers?: ResponseHeaders;
  readonly body?: string;
} {
  return {
    ...(typeof statusCode === 'number' ? { status: statusCode } : {}),
    ...(isRecord(responseHeaders) ? { headers: responseHeaders as ResponseHeaders } : {}), // Read with caution there.
    ...(typeof responseBody === 'string' ? { body: responseBody } : {}),
  };
}

/** What a thrown value shows to a classifier of the caller's. */
export function evidenceOf(error: unknown): FailureEvidence {
  return { error, ...(isApiCallError(error) ? lowerHeaders(readApiCallError(error)) : {}) };
}

function lowerHeaders({ headers, ...rest }: ReturnType<typeof readApiCallError>): FailureEvidence {
  if (!isRecord(headers)) return rest;
  const named = Object.entries(headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { ...rest, headers: Object.fromEntries(named.map(([name, value]) => [name.toLowerCase(), value])) };
}

function messageOf(error: unknown): string {
  return isRecord(error) && typeof error['message'] === 'string' ? error['message'] : 'it gives no reason';
}

/** The failure of a stream that ended, properly or not, without saying that the answer is whole. */
export function interruption(who: Who, finish: AiSdkFinish | undefined): Failure {
  const name = nameOfModel(who);
  if (finish?.unified === 'error') {
    return modelFailure('STREAM_INTERRUPTED', who, {
      phase: 'body',
      message: `The answer of ${name} was stopped by an error that was not named${finish.raw === undefined ? '' : ` (${finish.raw})`}`,
      context: { finishReason: finish.raw ?? finish.unified },
    });
  }
  return modelFailure('STREAM_INTERRUPTED', who, {
    phase: 'body',
    message:
      finish === undefined
        ? `The answer of ${name} ended without its finish part`
        : `The answer of ${name} ended, but the provider gave no reason for its end, as when a connection is cut`,
    ...(finish === undefined ? {} : { context: { finishReason: finish.unified } }),
  });
}
