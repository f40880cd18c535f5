import { unreachable } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import { classifyProviderFailure } from '../../errors/classify-provider-failure.ts';
import { causesOf } from '../../errors/classify/causes.ts';
import { isShortage } from '../../errors/classify/errno-signs.ts';
import { causeChain, readText } from '../../errors/classify/safe-read.ts';
import { clean, createFailure } from '../../errors/failure.ts';
import type { Failure, FailureDetails, Phase, SideEffect } from '../../errors/failure.ts';
import type { FailureCode } from '../../errors/codes.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { TimeoutKind } from '../../model/stream-watch.ts';
import type { FailureEvidence } from '../classify-error.ts';
import type { DecodeProblem } from '../protocol.ts';
import { faultOf } from './transport-fault.ts';
import type { TransportFault } from './transport-fault.ts';

/** What is known of an attempt when it fails. */
export interface AttemptFacts {
  readonly provider: string;
  readonly model: string;
  /** How far it has come. */
  readonly phase: 'connect' | 'headers' | 'body';
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Set where the transport cannot see the connection: then the error's own word on it counts. */
  readonly hidesConnection?: boolean | undefined;
  readonly wallMs: number;
  /** Keeps what a failure was read from, where somebody wants to see it. */
  readonly keep?: ((evidence: Pick<FailureEvidence, 'body' | 'error'>) => void) | undefined;
}

const evidenceCharacters = 200;

/** A wait that was too long. */
export function timeoutFailure(facts: AttemptFacts, kind: TimeoutKind, timeoutMs: number): Failure {
  const phase = kind === 'connect' || kind === 'headers' ? kind : facts.phase;
  return fail(facts, 'TIMEOUT', {
    message: `The call to ${who(facts)} was given up: ${timeoutWords(kind)} within ${timeoutMs} ms`,
    phase,
    hint: `If the provider is merely slow, raise timeouts.${kind}Ms.`,
    context: { timeout: kind, timeoutMs },
  });
}

function timeoutWords(kind: TimeoutKind): string {
  switch (kind) {
    case 'connect':
      return 'no connection';
    case 'headers':
      return 'no status and headers';
    case 'firstToken':
      return 'nothing of an answer';
    case 'idle':
      return 'no event of the stream';
    case 'progress':
      return 'nothing of the answer, only keep-alives,';
    case 'total':
      return 'no whole answer';
    default:
      return unreachable(kind);
  }
}

/** The caller's signal has ended the call. */
export function cancelledFailure(facts: AttemptFacts, reason: unknown): Failure {
  return fail(facts, 'CANCELLED', {
    message: `The call to ${who(facts)} was cancelled`,
    causes: causesOf(reason),
  });
}

/** Something was thrown while the request was sent or its answer was read. */
export function thrownFailure(facts: AttemptFacts, error: unknown): Failure {
  facts.keep?.({ error });
  const fault = faultOf(error);
  if (fault !== undefined) return faultFailure(facts, fault, error);
  if (RerailError.isInstance(error)) return error.failure;
  const { provider, model, status, headers, wallMs } = facts;
  const failure = classifyProviderFailure({ provider, model, status, headers, error, now: wallMs });
  const phase = phaseOf(facts, failure);
  const shortage = phase === 'connect' ? shortageOf(error) : undefined;
  return createFailure(failure.code, {
    ...failure,
    phase,
    sideEffect: effectOf(phase),
    ...(shortage === undefined ? {} : { hint: shortageHint, context: { ...failure.context, shortage } }),
  });
}

const shortageHint =
  'This machine has run out of something for a moment: raise the limit of open files (ulimit -n), or run less at once.';

/** What this machine lacks to open a connection: it says nothing about the provider. */
function shortageOf(error: unknown): string | undefined {
  return causeChain(error)
    .map((link) => readText(link, 'code'))
    .find((code) => code !== undefined && isShortage(code));
}

/** What was seen is better than what an error code usually means; only what cannot be seen is left to it. */
function phaseOf(facts: AttemptFacts, failure: Failure): Phase {
  if (facts.phase === 'headers' && facts.hidesConnection && failure.phase === 'connect') return 'connect';
  return facts.phase !== 'connect' && failure.code === 'INVALID_RESPONSE' ? 'parse' : facts.phase;
}

/** What the transport or a bound of ours has refused. */
export function faultFailure(facts: AttemptFacts, fault: TransportFault, error?: unknown): Failure {
  const { code, message, retryable, hint, context, status } = fault;
  const known = { ...facts, status: status ?? facts.status };
  const origin = code === 'CONFIG_ERROR' ? 'config' : 'model';
  const details = defined({ retryable, hint, context, origin, phase: fault.phase } as const);
  return fail(known, code, {
    ...details,
    message: `The call to ${who(facts)} failed: ${message}`,
    causes: error instanceof Error ? causesOf(error.cause) : [],
  });
}

/** The provider answered, and its answer says that it failed. */
export function answeredFailure(facts: AttemptFacts, body: string): Failure {
  const { provider, model, status, headers, wallMs } = facts;
  facts.keep?.({ body });
  return classifyProviderFailure({ provider, model, status, headers, body, now: wallMs });
}

/** The answer is not what the protocol allows, or reports an error inside. */
export function problemFailure(facts: AttemptFacts, problem: DecodeProblem): Failure {
  if (problem.type === 'provider-error') return answeredFailure(facts, problem.body);
  return fail(facts, 'INVALID_RESPONSE', {
    message: `The answer of ${who(facts)} cannot be read. ${problem.reason}`,
    phase: 'parse',
    context: { body: clean(problem.data, evidenceCharacters) },
  });
}

/** A good status, but a page or something else that is no answer of an API. */
export function wrongDocumentFailure(facts: AttemptFacts, body: string): Failure {
  const contentType = facts.headers?.['content-type'] ?? 'no content type';
  const base = answeredFailure(facts, body);
  return createFailure('INVALID_RESPONSE', {
    ...base,
    message: `${who(facts)} answered with ${contentType} instead of an event stream or JSON`,
    retryable: true,
    phase: 'parse',
    sideEffect: 'possible',
    hint: base.hint ?? 'Something else than the API answered: check the base URL and what stands in between.',
    context: { ...base.context, isNoAnswer: true, contentType, body: clean(body, evidenceCharacters) },
  });
}

/** The stream ended in the middle of an event. */
export function cutEventFailure(facts: AttemptFacts, droppedBytes: number): Failure {
  return fail(facts, 'STREAM_INTERRUPTED', {
    message: `The answer of ${who(facts)} ended in the middle of an event, which was dropped`,
    context: { droppedBytes },
  });
}

/** The request cannot be written as JSON, so nothing was sent. */
export function unwritableFailure(facts: AttemptFacts, error: unknown): Failure {
  return fail(facts, 'INVALID_REQUEST', {
    message: `The request to ${who(facts)} cannot be written as JSON`,
    hint: 'Look for a BigInt, a cycle or a throwing toJSON in the request, providerOptions included.',
    causes: causesOf(error),
  });
}

/** No credentials could be had, so nothing was sent. */
export function credentialsFailure(facts: AttemptFacts, error: unknown): Failure {
  const failure = thrownFailure(facts, error);
  return createFailure(failure.code === 'UNKNOWN' ? 'AUTHENTICATION_ERROR' : failure.code, {
    ...failure,
    message: `No credentials for ${who(facts)} could be had. ${failure.message}`,
    phase: 'connect',
    sideEffect: 'none',
  });
}

/** Whoever listens to the parts threw: a defect of the caller, which no further attempt mends. */
export function listenerFailure(facts: AttemptFacts, error: unknown): Failure {
  return fail(facts, 'INTERNAL', {
    message: `The listener onPart threw while the answer of ${who(facts)} arrived, so the call was ended`,
    origin: 'agent',
    hint: 'Mend the function that was given as onPart: it must not throw.',
    causes: causesOf(error),
  });
}

function fail(facts: AttemptFacts, code: FailureCode, details: FailureDetails): Failure {
  const phase = details.phase ?? facts.phase;
  const { provider, model, status } = facts;
  return createFailure(code, {
    origin: 'model',
    sideEffect: effectOf(phase),
    ...details,
    phase,
    provider: defined({ provider, model, statusCode: status }),
  });
}

/** Before the connection stands nothing can have happened; afterwards the provider may have worked, and billed. */
function effectOf(phase: Phase): SideEffect {
  return phase === 'connect' ? 'none' : 'possible';
}

function who({ provider, model }: AttemptFacts): string {
  return `${provider} (${model})`;
}
