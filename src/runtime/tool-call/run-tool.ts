import { fingerprint } from '../../base/hash.ts';
import { copyPlain } from '../../base/plain-copy.ts';
import type { QuestionEnd, ToolEnd } from '../../agent/tools/tool-call.ts';
import { unreachable } from '../../base/assert.ts';
import { clean, createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { isPersonQuestion } from '../../model/define-tool.ts';
import { runOwned } from '../../model/stray-errors.ts';
import type { InputCheck } from '../../model/tool.ts';
import { isThenable } from './bounded-work.ts';
import type { WorkEnd } from './bounded-work.ts';
import { collectStream, isAsyncIterable } from '../watch/collect-stream.ts';
import { encodeResult } from '../tool-result/encode-result.ts';
import type { Encoding, ResultBounds } from '../tool-result/encode-result.ts';
import { findInTheWay } from './left-behind.ts';
import { beginCall, createToolContext, readQuestion } from './tool-context.ts';
import type { ToolCall } from './tool-context.ts';
import { createEnd, failedEnd, okEnd, questionEnd } from './tool-end.ts';
import {
  abortFailure,
  failureOfSaid,
  failureOfThrown,
  invalidInput,
  notBegun,
  timeoutFailure,
} from './tool-failures.ts';
import { markerOf, markerWithin, textOfMarker } from './tool-markers.ts';
import type { ToolMarker } from './tool-markers.ts';
import { performWithin } from './tool-performance.ts';
import type { ToolRun, ToolRunOptions } from './tool-run.ts';

export { verifyTool } from './verify-tool.ts';
export type { LateEnd, ToolProgress, ToolRun, ToolRunOptions } from './tool-run.ts';

/**
 * Runs one call of a tool. Whatever the tool does, this settles within its time with how it ended. Never rejects. A tool that
 * ends at once needs no promise.
 */
export function runTool(run: ToolRun, options: ToolRunOptions): CallEnd | Promise<CallEnd> {
  const call = beginCall(run, options);
  if (run.asksAgain !== undefined) return questionEnd(call, run.asksAgain);
  const result = run.replies?.at(-1);
  if (result?.isResult === true)
    return endOfPerformed(call, { type: 'encoded', encoding: encodeResult(result.text, boundsOf(call)) });
  if (options.signal.aborted) return failedEnd(call, notBegun(run.tool, 'cancelled'));
  const timeoutMs = Math.min(run.tool.timeoutMs, run.leftMs);
  if (!(timeoutMs > 0)) return failedEnd(call, notBegun(run.tool, 'no-time'));
  const inTheWay = findInTheWay(run, options.leftBehind);
  if (inTheWay !== undefined) return failedEnd(call, notBegun(run.tool, inTheWay));
  const ended = performWithin(call, { timeoutMs, perform: () => execute(call), summarise: summariseResult });
  return ended instanceof Promise
    ? ended.then((end) => endOf(call, end, timeoutMs))
    : endOf(call, ended, timeoutMs);
}

/** How an attempt at a call ended: for good, or with a question to a person. */
export type CallEnd = ToolEnd | QuestionEnd;

/** What the tool's own code came to. */
type Performed =
  | { readonly type: 'encoded'; readonly encoding: Encoding }
  | { readonly type: 'asked'; readonly question: string }
  | { readonly type: 'marked'; readonly marker: ToolMarker }
  | { readonly type: 'refused'; readonly failure: Failure };

function execute(call: ToolCall): Performed | PromiseLike<Performed> {
  const check = call.run.tool.parse(call.run.input);
  return isThenable(check)
    ? Promise.resolve(check).then((checked) => executeChecked(call, checked))
    : executeChecked(call, check);
}

function executeChecked(call: ToolCall, check: InputCheck): Performed | PromiseLike<Performed> {
  const { tool } = call.run;
  if (check.type === 'invalid') return { type: 'refused', failure: invalidInput(tool, check) };
  // Time ran out over the check: nothing waits for it, so nothing may happen any more.
  if (call.interruption !== undefined) return { type: 'refused', failure: notBegun(tool, 'no-time') };
  call.hasBegun = true;
  // A schema that made nothing new of it gave the journal's own back: the tool gets a copy of that.
  const given = check.value === call.run.input ? copyPlain(call.run.input) : check.value;
  const { around } = call.options;
  const perform = (): unknown => tool.execute(given, createToolContext(call));
  const value = around === undefined ? perform() : around(call.run, perform);
  return isThenable(value)
    ? Promise.resolve(value).then((settled) => encodeValue(call, settled))
    : encodeValue(call, value);
}

function encodeValue(call: ToolCall, value: unknown): Performed | Promise<Performed> {
  const marker = markerOf(value);
  if (marker !== undefined) return { type: 'marked', marker };
  if (isPersonQuestion(value)) return { type: 'asked', question: readQuestion(value.question) };
  const bounds = boundsOf(call);
  if (!isAsyncIterable(value)) return { type: 'encoded', encoding: encodeResult(value, bounds) };
  const isOver = (): boolean => call.interruption !== undefined;
  return collectStream(value, { ...bounds, isOver }).then((encoding) => ({ type: 'encoded', encoding }));
}

function boundsOf({ run, options: { maxSpilledCharacters = 0 } }: ToolCall): ResultBounds {
  return { maxCharacters: Math.max(run.tool.maxResultCharacters, maxSpilledCharacters) };
}

function summariseResult(performed: Performed): string {
  if (performed.type === 'refused') return performed.failure.message;
  if (performed.type === 'marked') return textOfMarker(performed.marker);
  if (performed.type === 'asked') return performed.question;
  const { encoding } = performed;
  if ('failure' in encoding) return encoding.failure.message;
  return typeof encoding.content === 'string' ? encoding.content : '(text and images)';
}

function endOf(call: ToolCall, end: WorkEnd<Performed>, timeoutMs: number): CallEnd {
  const { tool } = call.run;
  switch (end.type) {
    case 'returned':
      return endOfPerformed(call, end.value);
    case 'threw': {
      const marker = markerWithin(end.thrown);
      if (marker !== undefined) return markedEnd(call, marker);
      const failure = runOwned(call.options.owner, () => failureOfThrown(tool, end.thrown));
      return failedEnd(call, call.hasBegun ? failure : { ...failure, sideEffect: 'none' });
    }
    case 'timed-out':
      if (!call.hasBegun) return failedEnd(call, notBegun(tool, 'slow-check'));
      return interruptedEnd(
        call,
        timeoutFailure(tool, {
          timeoutMs,
          isRunning: end.isRunning,
          leftBehind: call.options.leftBehind.count(tool),
        }),
      );
    case 'aborted':
      if (!call.hasBegun) return failedEnd(call, notBegun(tool, 'cancelled'));
      return interruptedEnd(call, abortFailure(tool));
    default:
      return unreachable(end);
  }
}

function endOfPerformed(call: ToolCall, performed: Performed): CallEnd {
  if (call.asked !== undefined && performed.type !== 'marked') return failedEnd(call, ranPastQuestion(call));
  switch (performed.type) {
    case 'refused':
      return failedEnd(call, performed.failure);
    case 'marked':
      return markedEnd(call, performed.marker);
    case 'asked':
      return questionEnd(call, { question: performed.question, isResult: true });
    case 'encoded':
      return 'failure' in performed.encoding
        ? failedEnd(call, unreadableResult(call, performed.encoding.failure))
        : okEnd(call, performed.encoding);
    default:
      return unreachable(performed);
  }
}

/** It came back, so it did what it does. */
function unreadableResult({ run: { tool } }: ToolCall, failure: Failure): Failure {
  const sideEffect = tool.effect === 'read' ? 'none' : 'certain';
  return Object.freeze({ ...failure, sideEffect, context: { ...failure.context, tool: tool.name } });
}

/** It caught what `ask` rejects with and went on without an answer: whatever it did would be done again. */
function ranPastQuestion({ run: { tool } }: ToolCall): Failure {
  return createFailure('TOOL_EXECUTION_ERROR', {
    origin: 'tool',
    message: `The tool "${tool.name}" asked a person and continued without the answer`,
    retryable: false,
    sideEffect: tool.effect === 'read' ? 'none' : 'certain',
    hint: 'Await context.ask() and do not catch its rejection: the tool is called again with the answer.',
    context: { tool: tool.name },
  });
}

const maxHintLength = 2000;

function markedEnd(call: ToolCall, marker: ToolMarker): CallEnd {
  if (marker.type === 'ask') return questionEnd(call, call.asked ?? { question: marker.question });
  if (marker.type === 'fail') {
    const { message, details } = marker;
    return failedEnd(call, failureOfSaid(call.run.tool, { said: details, message }));
  }
  const hint = marker.hint === '' ? 'Call it again, differently.' : clean(marker.hint, maxHintLength);
  return createEnd(call, { type: 'retry', content: hint, resultHash: fingerprint(hint) });
}

function interruptedEnd(call: ToolCall, failure: Failure): ToolEnd {
  const end = failedEnd(call, failure);
  return failure.code === 'UNKNOWN_OUTCOME' ? { ...end, type: 'unknown' } : end;
}
