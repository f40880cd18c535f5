import { assert } from '../base/assert.ts';
import { defined } from '../base/defined.ts';
import type { Json } from '../base/json.ts';
import { adviseName } from '../base/nearest.ts';
import { boundAndFreeze, toPlainJson } from '../base/plain-json.ts';
import { redact, redactJson } from '../base/redact.ts';
import { boundText } from '../base/text.ts';
import { causesOf } from './classify/causes.ts';
import { failureTraits, origins, severities } from './codes.ts';
import type { FailureCode, Origin, Severity } from './codes.ts';
import { passOnThrown } from './live-errors.ts';
import { boundFrame, maxFrames } from './stack-frames.ts';

/** How far the attempt had come. After `connect` the other side may have acted. */
export const phases = ['connect', 'headers', 'body', 'parse', 'execute', 'commit'] as const;
/** One of `phases`. */
export type Phase = (typeof phases)[number];

/** Whether the attempt may have changed something outside. */
export const sideEffects = ['none', 'possible', 'certain'] as const;
/** One of `sideEffects`. */
export type SideEffect = (typeof sideEffects)[number];

/** What decided the code: `declared` by whoever made the failure, or the kind of evidence it was read from. */
export const classifiers = ['declared', 'type', 'code', 'status', 'errno', 'wording'] as const;
/** One of `classifiers`. */
export type ClassifiedBy = (typeof classifiers)[number];

/** Who answered, as far as known. */
export interface ProviderFacts {
  readonly provider?: string;
  readonly model?: string;
  readonly statusCode?: number;
  readonly requestId?: string;
  readonly errorType?: string;
}

/** One link of the chain of causes. */
export interface Cause {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  /** Where it was thrown, for a developer: a frame each, innermost first, at most twelve. Never shown to a person or a model. */
  readonly stack?: readonly string[];
}

/** What went wrong, as plain data: serialisable, redacted and bounded. It carries no prompt, no header and no key. */
export interface Failure {
  readonly code: FailureCode;
  readonly origin: Origin;
  /** For a developer: what was attempted, why not, the value seen. */
  readonly message: string;
  /** A fact, decided at the source: the same attempt, unchanged, may succeed later. */
  readonly retryable: boolean;
  /** What the other side asked for, never shortened. Zero is a value. */
  readonly retryAfterMs?: number;
  readonly phase?: Phase;
  readonly sideEffect?: SideEffect;
  readonly provider?: ProviderFacts;
  readonly classifiedBy: ClassifiedBy;
  /** The next step a person can take. */
  readonly hint?: string;
  /** Which agent, tool, field, limit, elapsed time. `because` says in words what decided the code. */
  readonly context: Readonly<Record<string, Json>>;
  /** Outermost first, at most eight. */
  readonly causes: readonly Cause[];
}

/** What the maker of a failure must and may say; the rest comes from the table. */
export interface FailureDetails extends Partial<Omit<Failure, 'code' | 'message'>> {
  readonly message: string;
  /** What was thrown: `causes` is read from it where it is not given. */
  readonly cause?: unknown;
}

const maxMessageLength = 1000;
const redactionMargin = 4000;
const maxCutRounds = 4;
/** The longest chain that a failure keeps. */
export const maxCauses = 8;
const maxCauseLength = 500;

/** Makes a failure from the table: fills in its defaults, redacts and bounds every text, and freezes it. */
export function createFailure(code: FailureCode, details: FailureDetails): Failure {
  checkDetails(code, details);
  const traits = failureTraits[code];
  return Object.freeze(
    defined({
      code,
      origin: details.origin ?? traits.origins[0],
      message: clean(details.message, maxMessageLength),
      retryable: details.retryable ?? traits.retryable,
      retryAfterMs: details.retryAfterMs,
      phase: details.phase,
      sideEffect: details.sideEffect,
      provider: details.provider === undefined ? undefined : cleanProvider(details.provider),
      classifiedBy: details.classifiedBy ?? 'declared',
      hint: details.hint === undefined ? undefined : clean(details.hint, maxMessageLength),
      context: cleanContext(details.context ?? {}),
      causes: cleanCauses(details.causes ?? causesOf(details.cause)),
    }),
  );
}

const detailNames = [
  'message',
  'cause',
  'causes',
  'origin',
  'retryable',
  'retryAfterMs',
  'phase',
  'sideEffect',
  'provider',
  'classifiedBy',
  'hint',
  'context',
] as const satisfies readonly (keyof FailureDetails)[];

function isDetail(name: string): boolean {
  return (detailNames as readonly string[]).includes(name);
}

/** Misuse is told at once: a failure that cannot be read back would be found much later. */
function checkDetails(code: FailureCode, details: FailureDetails): void {
  const { origin, retryAfterMs, provider, message, hint, causes } = details;
  assert(typeof message === 'string', `Cannot make a failure: message must be a text, got ${typeof message}`);
  assert(
    hint === undefined || typeof hint === 'string',
    `Cannot make a failure: hint must be a text, got ${typeof hint}`,
  );
  assert(causes === undefined || Array.isArray(causes), 'Cannot make a failure: causes must be a list');
  assert(Object.hasOwn(failureTraits, code), `Cannot make a failure: "${code}" is no code`);
  // With a code it is a whole failure that was spread, perhaps one of a newer version: what is not known of it is left out.
  const unknown = 'code' in details ? undefined : Object.keys(details).find((name) => !isDetail(name));
  assert(
    unknown === undefined,
    `Cannot make a failure: there is no field "${unknown}": ${adviseName(unknown ?? '', detailNames)}`,
  );
  assert(origin === undefined || origins.includes(origin), `Cannot make a failure: "${origin}" is no origin`);
  assert(
    retryAfterMs === undefined || (Number.isFinite(retryAfterMs) && retryAfterMs >= 0),
    `Cannot make a failure: retryAfterMs must be a number of milliseconds, got ${retryAfterMs}`,
  );
  const statusCode = provider?.statusCode;
  assert(
    statusCode === undefined || Number.isFinite(statusCode),
    `Cannot make a failure: provider.statusCode must be a number, got ${statusCode}`,
  );
}

/**
 * What a failure means for whoever goes on: what a capability has said of it (`context.severity`), else `retriable` where it is
 * retryable, else as the table says.
 */
export function severityOf(
  failure: Pick<Failure, 'code' | 'retryable'> & Partial<Pick<Failure, 'context'>>,
): Severity {
  try {
    const { code, retryable, context } = failure;
    const stated = severities.find((one) => one === context?.['severity']);
    const known = Object.hasOwn(failureTraits, code) ? code : 'UNKNOWN';
    return stated ?? (retryable ? 'retriable' : failureTraits[known].severity);
  } catch {
    return failureTraits.UNKNOWN.severity; // Something that is no failure and refuses to be read.
  }
}

/** Redacts first and cuts then: a key that is cut in half no longer looks like one. */
export function clean(text: string, maxLength: number): string {
  let current = redact(redactableHead(text, maxLength));
  // A cut may go through a mark or leave a label bare, so what was cut is looked at again until nothing changes.
  for (let round = 0; round < maxCutRounds && current.length > maxLength; round += 1) {
    current = redact(boundText(current, maxLength));
  }
  return boundText(current, maxLength);
}

/** The part of a long text that may matter, without a word that the cut has gone through. */
function redactableHead(text: string, maxLength: number): string {
  const window = maxLength + redactionMargin;
  if (text.length <= window) return text;
  const head = text.slice(0, window);
  const end = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'));
  // A word that fills the whole margin is dropped as far as the margin reaches.
  return head.slice(0, Math.max(end, maxLength + 1));
}

function cleanProvider(facts: ProviderFacts): ProviderFacts {
  return Object.freeze(
    defined({
      provider: cleanOptional(facts.provider),
      model: cleanOptional(facts.model),
      statusCode: facts.statusCode,
      requestId: cleanOptional(facts.requestId),
      errorType: cleanOptional(facts.errorType),
    }),
  );
}

function cleanOptional(text: string | undefined): string | undefined {
  return text === undefined ? undefined : clean(text, 200);
}

const contextBounds = {
  maxDepth: 8,
  maxMembers: 200,
  maxTextLength: 1000,
  maxTotalLength: 16_000,
  // A text that needs no cut is redacted with the rest below.
  boundText: (text: string) => (text.length <= 1000 ? text : clean(text, 1000)),
} as const;

function cleanContext(context: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const cleaned = boundAndFreeze(redactJson(toPlainJson(context, contextBounds)), contextBounds);
  // An object stays an object: each step keeps the shape of what it is given.
  return cleaned as Readonly<Record<string, Json>>;
}

/** Frames of all causes together: what is further out mostly repeats the same ones. */
const maxFramesInAll = 24;

function cleanCauses(causes: readonly Cause[]): readonly Cause[] {
  let framesLeft = maxFramesInAll;
  const cleaned = causes.slice(0, maxCauses).map((cause) => {
    const stack = cleanFrames(cause.stack).slice(0, framesLeft);
    framesLeft -= stack.length;
    return cleanCause(cause, stack);
  });
  return Object.freeze(cleaned);
}

function cleanCause(cause: Cause, stack: readonly string[]): Cause {
  const cleaned = Object.freeze(
    defined({
      name: clean(cause.name, 200),
      message: clean(cause.message, maxCauseLength),
      code: cleanOptional(cause.code),
      stack: stack.length === 0 ? undefined : Object.freeze(stack),
    }),
  );
  passOnThrown(cause, cleaned);
  return cleaned;
}

function cleanFrames(frames: readonly string[] = []): readonly string[] {
  return frames.slice(0, maxFrames).map((frame) => boundFrame(redact(frame)));
}
