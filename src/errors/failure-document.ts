import { isRecord } from '../base/json.ts';
import { toPlainJson } from '../base/plain-json.ts';
import { docsOf, failureTraits, origins } from './codes.ts';
import type { FailureCode } from './codes.ts';
import { classifiers, clean, createFailure, maxCauses, phases, sideEffects } from './failure.ts';
import type { Cause, Failure, FailureDetails, ProviderFacts } from './failure.ts';
import { maxFrames } from './stack-frames.ts';

/** The version of the document. A reader refuses a newer one; a new field does not raise it, a changed meaning does. */
export const failureDocumentVersion = 1;

/** A failure as it travels: through a worker, an HTTP body or a file. */
export interface FailureDocument {
  readonly type: 'rerail.failure';
  readonly version: typeof failureDocumentVersion;
  /** The family class, for readers without the table. */
  readonly name: string;
  readonly failure: Failure;
  /** Where the code is explained, in the documentation of the package. Absent in documents of older versions. */
  readonly docs?: string;
}

export function toFailureDocument(failure: Failure, name: string): FailureDocument {
  return {
    type: 'rerail.failure',
    version: failureDocumentVersion,
    name,
    failure,
    docs: docsOf(failure.code),
  };
}

type Parsed =
  | { readonly type: 'valid'; readonly failure: Failure }
  | { readonly type: 'invalid'; readonly failure: Failure };

/** Reads a document from outside. A code this version does not know becomes `UNKNOWN` and is kept in `context.unknownCode`. */
export function parseFailureDocument(given: unknown): Parsed {
  const document = given === undefined ? undefined : toPlainJson(given, documentBounds);
  const problem = documentProblem(document);
  if (problem !== undefined) return { type: 'invalid', failure: invalidDocument(problem) };
  // documentProblem has looked at each field.
  const { failure } = document as unknown as { readonly failure: unknown };
  return { type: 'valid', failure: createFailureOf(failure) };
}

/**
 * The failure itself where it is one, else what can still be read of it: a field that fails its check gets its default.
 * Never throws, whatever it is given.
 */
export function readFailure(given: unknown): Failure {
  return isFailure(given) ? given : copyFailure(given);
}

/** A copy made of plain JSON only. */
export function copyFailure(given: unknown): Failure {
  return createFailureOf(toPlainJson(given ?? null, documentBounds));
}

/** From plain JSON. A code that this version does not know is kept in `context.unknownCode`. */
function createFailureOf(plain: unknown): Failure {
  const fields = isRecord(plain) ? pickFields(plain) : {};
  const code = isRecord(plain) ? plain['code'] : undefined;
  const message = fields.message ?? `A failure without a readable message: ${describe(plain)}`;
  if (typeof code === 'string' && isKnownCode(code)) return createFailure(code, { ...fields, message });
  const context = typeof code === 'string' ? { ...fields.context, unknownCode: code } : { ...fields.context };
  return createFailure('UNKNOWN', { ...fields, message, retryable: false, context });
}

/** Whether every field can be relied on. */
function isFailure(given: unknown): given is Failure {
  try {
    if (!isRecord(given) || fieldProblem(given) !== undefined) return false;
    const { code, causes } = given as unknown as Failure; // Each field has passed its check.
    return (
      isKnownCode(code) &&
      causes.length <= maxCauses &&
      causes.every(({ stack = [] }) => stack.length <= maxFrames)
    );
  } catch {
    return false; // A getter or a Proxy threw.
  }
}

/** Wide enough for whatever `createFailure` lets through; it bounds the rest itself. */
const documentBounds = { maxDepth: 16, maxMembers: 2000, boundText: (text: string) => text } as const;

function isKnownCode(code: string): code is FailureCode {
  return Object.hasOwn(failureTraits, code);
}

function documentProblem(document: unknown): string | undefined {
  if (!isRecord(document)) return `expected an object, got ${describe(document)}`;
  if (document['type'] !== 'rerail.failure')
    return `"type" must be "rerail.failure", got ${describe(document['type'])}`;
  if (document['version'] !== failureDocumentVersion) {
    return `"version" must be ${failureDocumentVersion}, got ${describe(document['version'])}${isNewer(document['version'])}`;
  }
  const failure = document['failure'];
  if (!isRecord(failure)) return `"failure" must be an object, got ${describe(failure)}`;
  return fieldProblem(failure);
}

function fieldProblem(failure: Readonly<Record<string, unknown>>): string | undefined {
  for (const [field, check] of Object.entries(fieldChecks)) {
    if (!check.test(failure[field]))
      return `"failure.${field}" must be ${check.expected}, got ${describe(failure[field])}`;
  }
  return undefined;
}

function isNewer(version: unknown): string {
  const isHigher = typeof version === 'number' && version > failureDocumentVersion;
  return isHigher ? '; a newer Rerail has written it' : '';
}

interface FieldCheck {
  readonly expected: string;
  readonly test: (value: unknown) => boolean;
}

const text: FieldCheck = { expected: 'a string', test: (value) => typeof value === 'string' };
const optionalText: FieldCheck = {
  expected: 'a string or absent',
  test: (value) => value === undefined || text.test(value),
};

const fieldChecks: Readonly<Record<keyof Failure, FieldCheck>> = {
  code: text,
  origin: oneOf(origins),
  message: text,
  retryable: { expected: 'true or false', test: (value) => typeof value === 'boolean' },
  retryAfterMs: {
    expected: 'a number of milliseconds, zero or more',
    test: (value) => value === undefined || (Number.isFinite(value) && Number(value) >= 0),
  },
  phase: optionally(oneOf(phases)),
  sideEffect: optionally(oneOf(sideEffects)),
  provider: {
    expected: 'an object of provider facts',
    test: (value) => value === undefined || isProviderFacts(value),
  },
  classifiedBy: oneOf(classifiers),
  hint: optionalText,
  context: { expected: 'an object', test: isRecord },
  causes: { expected: 'a list of causes', test: (value) => Array.isArray(value) && value.every(isCause) },
};

function oneOf(values: readonly string[]): FieldCheck {
  return {
    expected: `one of ${values.join(', ')}`,
    test: (value) => typeof value === 'string' && values.includes(value),
  };
}

function optionally(check: FieldCheck): FieldCheck {
  return {
    expected: `${check.expected}, or absent`,
    test: (value) => value === undefined || check.test(value),
  };
}

function isProviderFacts(value: unknown): value is ProviderFacts {
  if (!isRecord(value)) return false;
  const statusCode = value['statusCode'];
  if (statusCode !== undefined && !Number.isFinite(statusCode)) return false;
  return ['provider', 'model', 'requestId', 'errorType'].every((field) => optionalText.test(value[field]));
}

function isCause(value: unknown): value is Cause {
  return (
    isRecord(value) &&
    text.test(value['name']) &&
    text.test(value['message']) &&
    optionalText.test(value['code']) &&
    (value['stack'] === undefined || isFrames(value['stack']))
  );
}

function isFrames(value: unknown): boolean {
  return Array.isArray(value) && value.every(text.test);
}

/** The fields of the table that pass their check: whatever else a document has is dropped. */
function pickFields(failure: object): Partial<FailureDetails> {
  const fields = Object.entries(failure).filter(
    ([field, value]) =>
      field !== 'code' &&
      Object.hasOwn(fieldChecks, field) &&
      fieldChecks[field as keyof Failure].test(value),
  );
  return Object.fromEntries(fields);
}

function invalidDocument(problem: string): Failure {
  return createFailure('SERIALIZATION_ERROR', {
    origin: 'agent',
    message: `Cannot read a failure document: ${problem}`,
    phase: 'parse',
  });
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clean(value, 80));
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  return value === undefined ? 'nothing' : typeof value;
}
