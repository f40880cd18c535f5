import { defined } from '../base/defined.ts';
import { classifyFrom, classifyProviderFailure } from './classify-provider-failure.ts';
import { causesOf } from './classify/causes.ts';
import { signOfErrno } from './classify/errno-signs.ts';
import { signOfStorageError, signOfToolErrno } from './classify/file-signs.ts';
import { causeChain, describeThrown, nameOf, readProperty, readText } from './classify/safe-read.ts';
import { schemaIssues } from './classify/schema-issues.ts';
import type { Sign } from './classify/verdict.ts';
import type { FailureCode, Origin } from './codes.ts';
import { failureDocumentVersion, parseFailureDocument } from './failure-document.ts';
import { createFailure } from './failure.ts';
import type { ClassifiedBy, Failure, Phase } from './failure.ts';
import { passOnThrown } from './live-errors.ts';
import { RerailError, withCause } from './rerail-error.ts';

/**
 * Makes a failure of anything that was thrown, anywhere: an error, a text, `null`, a Proxy that throws when looked at.
 * Never throws. What already carries a failure keeps it; a model's errors are classified as a provider's.
 *
 * @example
 * try { await tool.execute(input) } catch (thrown) { return classifyFailure(thrown, 'tool') }
 */
export function classifyFailure(thrown: unknown, origin: Origin = 'agent'): Failure {
  const carried = carriedFailure(thrown, origin);
  if (carried !== undefined) return carried;
  if (origin === 'model' || origin === 'embedding') {
    return classifyFrom({ error: thrown }, origin);
  }
  return failureOf(thrown, origin, decideThrown(thrown, origin));
}

function failureOf(thrown: unknown, origin: Origin, decision: Decision): Failure {
  return createFailure(
    decision.code,
    defined({
      origin,
      message: decision.message ?? describeThrown(thrown),
      classifiedBy: decision.by,
      retryable: decision.retryable,
      retryAfterMs: decision.retryAfterMs,
      phase: decision.phase,
      // A tool that threw may have acted before; only the tool itself can say otherwise.
      sideEffect: origin === 'tool' ? 'possible' : undefined,
      context: { because: decision.because },
      causes: causesOf(thrown),
    } as const),
  );
}

interface Decision extends Sign {
  readonly by: ClassifiedBy;
  readonly because: string;
  readonly message?: string;
  readonly retryAfterMs?: number;
  readonly phase?: Phase;
}

/**
 * What a link of the chain already says for certain, outermost first: our own errors, also those of a second copy of this
 * package, and documents; a wish to stop, a timer, a defect, however deep inside a wrapper they are.
 */
function carriedFailure(thrown: unknown, origin: Origin): Failure | undefined {
  const chain = causeChain(thrown);
  for (const link of chain) {
    const declared = declaredFailure(link);
    if (declared !== undefined) return withCause(declared, readProperty(link, 'cause'));
    const name = nameOf(link) ?? '';
    const sign = Object.hasOwn(certainNames, name) ? certainNames[name] : undefined;
    if (sign === undefined) continue;
    // A timer aborts too: what it set off does not hide it.
    const isTimer = sign.code === 'CANCELLED' && chain.some((inner) => nameOf(inner) === 'TimeoutError');
    const code = isTimer ? 'TIMEOUT' : sign.code;
    return failureOf(thrown, origin, { code, by: 'type', because: `the error's class is ${name}` });
  }
  return undefined;
}

const certainNames: Readonly<Record<string, Sign>> = {
  AbortError: { code: 'CANCELLED' },
  TimeoutError: { code: 'TIMEOUT' },
  Defect: { code: 'INTERNAL' },
};

function declaredFailure(link: unknown): Failure | undefined {
  const document = RerailError.isInstance(link)
    ? { ...envelope, failure: readProperty(link, 'failure') }
    : link;
  if (readProperty(document, 'type') !== envelope.type) return undefined;
  const parsed = parseFailureDocument(document);
  if (parsed.type === 'invalid') return undefined;
  const given = readProperty(readProperty(document, 'failure'), 'causes');
  for (const [index, cause] of parsed.failure.causes.entries())
    passOnThrown(readProperty(given, String(index)), cause);
  return parsed.failure;
}

const envelope = { type: 'rerail.failure', version: failureDocumentVersion } as const;

function decideThrown(thrown: unknown, origin: Origin): Decision {
  return (
    byErrorCode(thrown, origin) ??
    bySchema(thrown, origin) ??
    bySerialization(thrown) ??
    byHttpStatus(thrown, origin) ??
    byDefect(thrown, origin) ?? {
      code: defaultCodes[origin] ?? 'UNKNOWN',
      by: 'type',
      because: `it was thrown in "${origin}" and says no more about itself`,
    }
  );
}

/** What is thrown without a word about itself, by where it was thrown. Elsewhere it is `UNKNOWN`. */
const defaultCodes: Partial<Record<Origin, FailureCode>> = {
  tool: 'TOOL_EXECUTION_ERROR',
  storage: 'STORAGE_IO',
  config: 'CONFIG_ERROR',
};

function byErrorCode(thrown: unknown, origin: Origin): Decision | undefined {
  for (const link of causeChain(thrown)) {
    const code = readText(link, 'code') ?? '';
    const found = signOfLink(link, origin) ?? signOfErrno(code);
    const number = readProperty(link, 'errcode');
    const shown = typeof number === 'number' ? `${code} ${number}`.trim() : code;
    if (found !== undefined) return { ...found, by: 'errno', because: `the error code is ${shown}` };
  }
  return undefined;
}

function signOfLink(link: unknown, origin: Origin): Sign | undefined {
  if (origin === 'storage') return signOfStorageError(link);
  return origin === 'tool' || origin === 'sandbox'
    ? signOfToolErrno(readText(link, 'code') ?? '')
    : undefined;
}

function bySchema(thrown: unknown, origin: Origin): Decision | undefined {
  const issues = schemaIssues(thrown);
  if (issues === undefined) return undefined;
  const code = origin === 'config' ? 'CONFIG_ERROR' : 'VALIDATION_ERROR';
  return {
    code,
    by: 'type',
    message: issues,
    because: 'it lists issues as schema libraries do',
    phase: 'parse',
  };
}

const cannotEncode = /circular structure|serialize a BigInt|could not be cloned|invalid string length/i;

function bySerialization(thrown: unknown): Decision | undefined {
  const name = nameOf(thrown);
  const isEngineError = name === 'TypeError' || name === 'RangeError';
  const cannotBeEncoded =
    name === 'DataCloneError' || (isEngineError && cannotEncode.test(describeThrown(thrown).slice(0, 500)));
  if (!cannotBeEncoded) return undefined;
  return { code: 'SERIALIZATION_ERROR', by: 'type', because: 'a value could not be encoded' };
}

/** What an HTTP client inside a tool says, by status alone: its bodies are not a model provider's. */
const toolStatuses: Readonly<Record<number, FailureCode>> = {
  401: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'TIMEOUT',
  410: 'NOT_FOUND',
  429: 'RATE_LIMITED',
  504: 'TIMEOUT',
};

function byHttpStatus(thrown: unknown, origin: Origin): Decision | undefined {
  if (origin !== 'tool' && origin !== 'mcp') return undefined;
  // Only a field counts: what a tool says in words may quote any status.
  const status = causeChain(thrown)
    .map(statusField)
    .find((field) => field !== undefined);
  const code =
    status === undefined ? undefined : (toolStatuses[status] ?? (status >= 500 ? 'SERVER_ERROR' : undefined));
  if (code === undefined) return undefined;
  const decision = { code, by: 'status', because: `the status is ${status}` } as const;
  const { retryAfterMs } = classifyProviderFailure({ error: thrown });
  return retryAfterMs === undefined ? decision : { ...decision, retryAfterMs };
}

function statusField(link: unknown): number | undefined {
  const response = readProperty(link, 'response');
  const fields = [link, response].flatMap((holder) => [
    readProperty(holder, 'status'),
    readProperty(holder, 'statusCode'),
  ]);
  return fields.find((field) => typeof field === 'number');
}

const defects: ReadonlySet<string> = new Set([
  'TypeError',
  'ReferenceError',
  'RangeError',
  'SyntaxError',
  'AssertionError',
]);

/** A programming error in our own code is a defect, not a failure of the world. */
function byDefect(thrown: unknown, origin: Origin): Decision | undefined {
  const name = nameOf(thrown);
  if (origin !== 'agent' || name === undefined || !defects.has(name)) return undefined;
  return { code: 'INTERNAL', by: 'type', because: `a ${name} in our own code is a defect` };
}
