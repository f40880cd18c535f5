import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { causesOf } from '../../errors/classify/causes.ts';
import { describeThrown, isList, readProperty, readText } from '../../errors/classify/safe-read.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { failureTraits } from '../../errors/codes.ts';
import type { FailureCode } from '../../errors/codes.ts';
import { clean, createFailure, sideEffects } from '../../errors/failure.ts';
import type { Cause, Failure, SideEffect } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import { failNames } from '../../model/tool.ts';
import type { InvalidInput, Tool } from '../../model/tool.ts';
import { checkOptions } from '../../model/check/check-options.ts';
import { dropPromise } from './bounded-work.ts';

/** Makes a failure of whatever a tool threw: the tool's own verdict first, then ours. Never throws. */
export function failureOfThrown(tool: Tool, thrown: unknown): Failure {
  const verdict = askTool(tool, thrown);
  if (verdict.type === 'known') {
    return failureOfSaid(tool, { said: verdict.said, message: describeDeeply(thrown), thrown });
  }
  const failure = classifyFailure(thrown, 'tool');
  // Code that made the failure may know better than the tool's declaration; our own guess does not.
  const declared = failure.classifiedBy === 'declared' ? failure.sideEffect : undefined;
  return createFailure(failure.code, {
    ...failure,
    message: isList(readProperty(thrown, 'errors')) ? describeDeeply(thrown) : failure.message,
    sideEffect: declared ?? effectOf(tool),
    context: {
      ...failure.context,
      tool: tool.name,
      ...(verdict.type === 'broken' ? { classifyError: verdict.why } : {}),
    },
    causes: verdict.type === 'broken' ? [...failure.causes, ...verdict.causes] : failure.causes,
  });
}

/** Makes a failure of what a tool says about itself, by `fail` or by `classifyError`. It may say nonsense. */
export function failureOfSaid(tool: Tool, { said, message, thrown }: Said): Failure {
  const code = readText(said, 'code');
  const isCode = code !== undefined && Object.hasOwn(failureTraits, code);
  const context = readProperty(said, 'context');
  const retryable = readProperty(said, 'retryable');
  return createFailure(
    isCode ? (code as FailureCode) : 'TOOL_EXECUTION_ERROR', // Looked up in the table just now.
    defined({
      origin: 'tool' as const,
      phase: 'execute' as const,
      message: readText(said, 'message') ?? message,
      retryable: typeof retryable === 'boolean' ? retryable : undefined,
      retryAfterMs: readWait(said),
      sideEffect: readSideEffect(said) ?? effectOf(tool),
      hint: readText(said, 'hint'),
      context: {
        // What is no JSON in it is left out when the failure is made.
        ...(typeof context === 'object' ? copyContext(context) : {}),
        tool: tool.name,
        ...(code !== undefined && !isCode ? { unknownCode: code.slice(0, 100) } : {}),
      },
      causes: causesOf(thrown ?? readProperty(said, 'cause')),
    }),
  );
}

export interface Said {
  /** `FailDetails` or an `ErrorVerdict`, unless the tool says something else. */
  readonly said: unknown;
  /** Where it gives no message. */
  readonly message: string;
  readonly thrown?: unknown;
}

/** The words for the model: what went wrong, what to change, and whether it may have happened. */
export function wordsForModel(tool: Tool, failure: Failure): string {
  const rendered = renderFailure(failure, 'model');
  const message = failure.message.replace(/[.\s]+$/, '');
  const detailed = rendered.includes(message) ? rendered : `${rendered} Details: ${message}.`;
  const mayHaveHappened =
    tool.effect === 'once' &&
    failure.code !== 'UNKNOWN_OUTCOME' &&
    failure.sideEffect !== undefined &&
    failure.sideEffect !== 'none';
  const warning = mayHaveHappened ? ' It may have taken effect: check before calling it again.' : '';
  return clean(detailed, maxModelLength - warning.length) + warning;
}

/** The end of a call that ran into its time limit. */
export function timeoutFailure(tool: Tool, { timeoutMs, isRunning, leftBehind }: TimeoutFacts): Failure {
  const context = defined({
    timeoutMs,
    tool: tool.name,
    leftBehind: leftBehind > 1 ? leftBehind : undefined,
    stillRunning: isRunning ? true : undefined,
  });
  const late = `Tool "${tool.name}" did not finish within ${timeoutMs} ms`;
  const message = isRunning ? `${late}. It ignores cancellation and is still running` : late;
  if (tool.effect !== 'once') {
    return createFailure('TIMEOUT', {
      origin: 'tool',
      phase: 'execute',
      // Beside one that still runs, another would do the same work again.
      retryable: !isRunning,
      sideEffect: effectOf(tool),
      message: isRunning ? `${message}: the same call is not started again until it ends` : message,
      context,
    });
  }
  return unknownOutcome(tool, { message: `${message}, so it may or may not have happened`, context });
}

export interface TimeoutFacts {
  readonly timeoutMs: number;
  /** It did not stop when its signal aborted. */
  readonly isRunning: boolean;
  /** Calls of this tool whose wait has ended and that still run, this one included. */
  readonly leftBehind: number;
}

/** The end of a call while it ran, at the cancel request of the process that runs it. */
export function abortFailure(tool: Tool): Failure {
  const message = `The run was cancelled while tool "${tool.name}" was running`;
  if (tool.effect === 'once') {
    return unknownOutcome(tool, { message: `${message}, so it may or may not have happened` });
  }
  return createFailure('CANCELLED', {
    origin: 'tool',
    phase: 'execute',
    sideEffect: effectOf(tool),
    message,
    context: { tool: tool.name },
  });
}

/** It is unknown whether it happened. */
export function unknownOutcome(tool: Tool, { message, context, thrown }: Unknown): Failure {
  return createFailure('UNKNOWN_OUTCOME', {
    origin: 'tool',
    phase: 'execute',
    sideEffect: 'possible',
    message,
    context: { ...context, tool: tool.name },
    causes: thrown === undefined ? [] : causesOf(thrown),
  });
}

interface Unknown {
  readonly message: string;
  readonly context?: Readonly<Record<string, Json>>;
  readonly thrown?: unknown;
}

/** A call that was never begun, so nothing has happened. */
export function notBegun(tool: Tool, why: keyof typeof notBegunReasons): Failure {
  const { code, retryable, words } = notBegunReasons[why];
  return createFailure(code, {
    origin: 'tool',
    sideEffect: 'none',
    retryable,
    message: `Tool "${tool.name}" was not called: ${words}`,
    context: { tool: tool.name },
  });
}

const notBegunReasons = {
  cancelled: { code: 'CANCELLED', retryable: false, words: 'the run is cancelled' },
  'no-time': { code: 'TIMEOUT', retryable: false, words: 'the run has no time left' },
  'slow-check': { code: 'TIMEOUT', retryable: true, words: 'the check of its input took too long' },
  'same-call': {
    code: 'TIMEOUT',
    retryable: false,
    words:
      'an earlier call with the same arguments ignores cancellation and is still running. Do not repeat it now',
  },
  'same-resource': {
    code: 'TIMEOUT',
    retryable: false,
    words:
      'an earlier call on the same resource ignores cancellation and is still running. Do something else first',
  },
} as const satisfies Record<string, { code: FailureCode; retryable: boolean; words: string }>;

const maxShownIssues = 10;

/** An input that its schema rejects, reported when the call begins. */
export function invalidInput(tool: Tool, { issues, causes = [] }: InvalidInput): Failure {
  const shown = issues
    .slice(0, maxShownIssues)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
  return createFailure('VALIDATION_ERROR', {
    origin: 'tool',
    phase: 'parse',
    sideEffect: 'none',
    message: shown === '' ? 'the input does not fit the schema' : shown,
    context: { tool: tool.name },
    causes,
  });
}

const maxModelLength = 2000;

type Verdict =
  | { readonly type: 'known'; readonly said: object }
  | { readonly type: 'none' }
  | { readonly type: 'broken'; readonly why: string; readonly causes: readonly Cause[] };

function askTool(tool: Tool, thrown: unknown): Verdict {
  if (tool.classifyError === undefined) return { type: 'none' };
  try {
    const said: unknown = tool.classifyError(thrown);
    if (said === undefined || said === null) return { type: 'none' };
    if (dropPromise(said))
      return { type: 'broken', why: 'it gave a promise: it must answer at once', causes: [] };
    if (!isRecord(said)) return { type: 'broken', why: 'its answer is no verdict', causes: [] };
    checkOptions({ of: 'its verdict', rules: verdictNames }, said);
    return { type: 'known', said };
  } catch (error) {
    // What matters is what the tool threw; that its classifier threw too is a remark.
    return { type: 'broken', why: `it threw: ${describeThrown(error)}`, causes: causesOf(error) };
  }
}

/** A whole failure is a verdict too. */
const verdictNames = [...failNames, 'message', 'origin', 'phase', 'provider', 'classifiedBy', 'causes'];

const maxInner = 5;

/** An aggregate says that all failed; what is worth knowing is how. */
function describeDeeply(thrown: unknown): string {
  const inner = readProperty(thrown, 'errors');
  const outer = describeThrown(thrown);
  if (!isList(inner)) return outer;
  const messages = Array.from({ length: maxInner }, (_, index) => readProperty(inner, String(index)))
    .filter((error) => error !== undefined)
    .map(describeThrown);
  return messages.length === 0 ? outer : `${outer} (${messages.join('; ')})`;
}

/** What a call that went wrong may have done, as far as its tool's declaration says. */
function effectOf(tool: Tool): SideEffect {
  return tool.effect === 'read' ? 'none' : 'possible';
}

function readSideEffect(said: unknown): SideEffect | undefined {
  const sideEffect = readProperty(said, 'sideEffect');
  return sideEffects.find((known) => known === sideEffect);
}

function readWait(said: unknown): number | undefined {
  const waitMs = readProperty(said, 'retryAfterMs');
  return typeof waitMs === 'number' && Number.isFinite(waitMs) && waitMs >= 0 ? waitMs : undefined;
}

function copyContext(context: object | null): Readonly<Record<string, Json>> {
  try {
    return { ...context };
  } catch {
    return {}; // A getter threw: there is no context worth a second failure.
  }
}
