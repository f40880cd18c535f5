import { defined } from '../base/defined.ts';
import type { Json } from '../base/json.ts';
import { causesOf } from './classify/causes.ts';
import { decide } from './classify/decide.ts';
import { signOfErrno } from './classify/errno-signs.ts';
import { gatherEvidence } from './classify/evidence.ts';
import type { Evidence, ProviderFailureInput, ResponseHeaders } from './classify/evidence.ts';
import { hintFor } from './classify/hints.ts';
import { readProperty, readText } from './classify/safe-read.ts';
import { statedDelay } from './classify/stated-delay.ts';
import type { StatedDelay } from './classify/stated-delay.ts';
import { tokenCounts } from './classify/token-counts.ts';
import type { Verdict } from './classify/verdict.ts';
import { createFailure } from './failure.ts';
import type { Failure, Phase, ProviderFacts, SideEffect } from './failure.ts';

/**
 * Says what a failed call to a model means, from whatever is left of it: status, headers, body, the thrown value.
 * Never throws, never retries, reads no clock, and is linear in its input.
 *
 * @example
 * classifyProviderFailure({ provider: 'openai', status: 429, body }).code; // 'QUOTA_EXCEEDED', not 'RATE_LIMITED'
 */
export function classifyProviderFailure(given: ProviderFailureInput): Failure {
  return classifyFrom(given, 'model');
}

/** The same for another origin that speaks to models. */
export function classifyFrom(given: ProviderFailureInput, origin: 'model' | 'embedding'): Failure {
  const input = readInput(given);
  const evidence = gatherEvidence(input);
  const delay = statedDelay(evidence, input.now);
  const verdict = decide(evidence, delay);
  const phase = phaseOf(verdict, evidence, input);
  return createFailure(
    verdict.code,
    defined({
      origin,
      message: messageOf(verdict, evidence, input),
      classifiedBy: verdict.by,
      retryable: verdict.retryable,
      retryAfterMs: delay.type === 'stated' ? delay.delayMs : undefined,
      phase,
      sideEffect: phase === undefined ? undefined : effectOf(phase),
      hint: hintFor(verdict.code, evidence),
      provider: providerFacts(evidence, input),
      context: contextOf(verdict, evidence, delay),
      causes: causesOf(input.error),
    } as const),
  );
}

/** Before the request was sent nothing can have happened; afterwards the provider may have worked, and billed. */
function effectOf(phase: Phase): SideEffect {
  return phase === 'connect' ? 'none' : 'possible';
}

/** Takes what is of the promised type and leaves the rest: the caller may be JavaScript, and the input hostile. */
function readInput(given: unknown): ProviderFailureInput {
  const [status, now] = [readProperty(given, 'status'), readProperty(given, 'now')];
  return defined({
    provider: readText(given, 'provider'),
    model: readText(given, 'model'),
    status: isStatus(status) ? status : undefined,
    // Headers and the error are only ever looked at by way of safe-read.ts.
    headers: readProperty(given, 'headers') as ResponseHeaders | undefined,
    body: readBody(given),
    error: readProperty(given, 'error'),
    now: typeof now === 'number' ? now : undefined,
  });
}

function readBody(given: unknown): string | object | undefined {
  const body = readProperty(given, 'body');
  if (typeof body === 'object' && body !== null) return body;
  return typeof body === 'string' && body !== '' ? body : undefined;
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 999;
}

const transportCodes: ReadonlySet<string> = new Set([
  'NETWORK_ERROR',
  'TIMEOUT',
  'STREAM_INTERRUPTED',
  'INVALID_RESPONSE',
  'CANCELLED',
]);

/** How far the call had come, where that is known. With a status the answer's headers had arrived. */
function phaseOf(verdict: Verdict, evidence: Evidence, input: ProviderFailureInput): Phase | undefined {
  if (!transportCodes.has(verdict.code)) return undefined;
  if (verdict.code === 'STREAM_INTERRUPTED') return 'body';
  if (verdict.code === 'INVALID_RESPONSE') return 'parse';
  const signs = evidence.errnos.map(signOfErrno).filter((sign) => sign?.code === verdict.code);
  const words = evidence.messages.join(' ').slice(0, 2000);
  if (/before secure TLS/i.test(words)) return 'connect';
  // `read ETIMEDOUT` is a connection that had been made: the request may have been acted on.
  if (/\b(?:read|write) E[A-Z]{3,}/.test(words)) return 'headers';
  if (signs[0] !== undefined) return signs[0].phase;
  if (input.status !== undefined) return 'body';
  return verdict.retryable === false && verdict.code === 'NETWORK_ERROR' ? 'connect' : undefined;
}

function messageOf(verdict: Verdict, evidence: Evidence, input: ProviderFailureInput): string {
  const target = [
    evidence.provider || 'the model provider',
    input.model === undefined ? '' : ` (${input.model})`,
  ].join('');
  const status = evidence.status === undefined ? '' : ` with status ${evidence.status}`;
  const quote = quoteOf(evidence.messages);
  const said = quote === '' ? '' : `: ${quote}`;
  if (verdict.code === 'CANCELLED') return `The call to ${target} was cancelled${said}`;
  return `The call to ${target} failed${status}${said}`;
}

/** The innermost sentence, and the one around it where the innermost is a word or two. */
function quoteOf(messages: readonly string[]): string {
  const inner = messages.at(-1) ?? '';
  const outer = messages.at(-2);
  const quote = inner.length < 12 && outer !== undefined ? `${outer} ${inner}` : inner;
  return /\s{2}|[\n\t\r]/.test(quote) ? quote.replaceAll(/\s+/g, ' ') : quote;
}

function contextOf(verdict: Verdict, evidence: Evidence, delay: StatedDelay): Readonly<Record<string, Json>> {
  const isLength = verdict.code === 'CONTEXT_LENGTH_EXCEEDED' || verdict.code === 'REQUEST_TOO_LARGE';
  return {
    because: verdict.because,
    ...(delay.type === 'stated' ? { retryAfterFrom: delay.from } : {}),
    ...(delay.type === 'invalid' ? { retryAfterIgnored: `${delay.from} is "${delay.value}"` } : {}),
    ...(isLength ? tokenCounts(evidence.text) : {}),
    ...(isNoAnswer(verdict, evidence) ? { isNoAnswer: true } : {}),
  };
}

/** Whole, and from somebody else than an API: a page, or a status that no answer has. What is garbled is another matter. */
function isNoAnswer({ code }: Verdict, { isPage, status = 0 }: Evidence): boolean {
  if (code !== 'INVALID_RESPONSE') return false;
  return isPage || status === 204 || status === 205 || (status >= 300 && status < 400);
}

function providerFacts(evidence: Evidence, input: ProviderFailureInput): ProviderFacts | undefined {
  const facts = defined({
    provider: evidence.provider === '' ? undefined : evidence.provider,
    model: input.model,
    statusCode: evidence.status,
    requestId: evidence.requestId,
    errorType: evidence.errorType,
  });
  return Object.keys(facts).length === 0 ? undefined : facts;
}
