import type { ToolEnd } from '../../agent/tools/tool-call.ts';
import { unreachable } from '../../base/assert.ts';
import { describeThrown, readProperty } from '../../errors/classify/safe-read.ts';
import type { Failure } from '../../errors/failure.ts';
import type { InputCheck } from '../../model/tool.ts';
import { isThenable } from './bounded-work.ts';
import type { WorkEnd } from './bounded-work.ts';
import { encodeResult, encodedText, isEncoded } from '../tool-result/encode-result.ts';
import { beginCall, createToolContext } from './tool-context.ts';
import type { ToolCall } from './tool-context.ts';
import { okEnd } from './tool-end.ts';
import { unknownOutcome } from './tool-failures.ts';
import { performWithin } from './tool-performance.ts';
import type { ToolRun, ToolRunOptions } from './tool-run.ts';

/** What is known of a call whose end is unknown. */
export type VerifyEnd =
  | { readonly type: 'happened'; readonly end: ToolEnd }
  | { readonly type: 'did-not-happen' }
  | { readonly type: 'unknown'; readonly failure: Failure };

/**
 * Asks a tool whether a call happened. What throws, hangs or answers nonsense has not answered: it stays unknown. Never
 * rejects.
 */
export async function verifyTool(run: ToolRun, options: ToolRunOptions): Promise<VerifyEnd> {
  // The call may have happened: no person is asked in the middle of finding that out.
  const call = beginCall({ ...run, replies: undefined }, options);
  if (run.tool.verify === undefined) return unknown(call, { why: 'it has no verify' });
  if (options.signal.aborted) return unknown(call, { why: 'the run is cancelled' });
  const { timeoutMs } = run.tool;
  const ended = await performWithin(call, {
    timeoutMs,
    perform: () => ask(call),
    summarise: (answer) => `verify answered: happened ${describeHappened(answer)}`,
  });
  return endOf(call, ended);
}

function ask(call: ToolCall): unknown {
  const check = call.run.tool.parse(call.run.input);
  return isThenable(check)
    ? Promise.resolve(check).then((checked) => askChecked(call, checked))
    : askChecked(call, check);
}

function askChecked(call: ToolCall, check: InputCheck): unknown {
  const { tool } = call.run;
  if (check.type === 'invalid') throw new Error('the input does not fit the schema any more');
  return tool.verify?.(check.value, createToolContext(call));
}

function endOf(call: ToolCall, end: WorkEnd<unknown>): VerifyEnd {
  switch (end.type) {
    case 'returned':
      return endOfAnswer(call, end.value);
    case 'threw':
      return unknown(call, { why: `verify threw: ${describeThrown(end.thrown)}`, thrown: end.thrown });
    case 'timed-out':
      return unknown(call, { why: `verify did not answer within ${call.run.tool.timeoutMs} ms` });
    case 'aborted':
      return unknown(call, { why: 'the run was cancelled while verify was running' });
    default:
      return unreachable(end);
  }
}

const stillRunning =
  'verify says that it did not happen, but the call ignores cancellation and is still running';

function endOfAnswer(call: ToolCall, answer: unknown): VerifyEnd {
  const happened = readProperty(answer, 'happened');
  if (happened === false) {
    const isRunning = call.options.leftBehind.find(call.run) === 'same-call';
    return isRunning ? unknown(call, { why: stillRunning }) : { type: 'did-not-happen' };
  }
  if (happened === true) return { type: 'happened', end: happenedEnd(call, readProperty(answer, 'result')) };
  if (happened === 'unknown') return unknown(call, { why: 'verify cannot determine it either' });
  const why = `verify answered neither { happened: true } nor { happened: false }, but happened ${describeHappened(answer)}`;
  return unknown(call, { why });
}

function happenedEnd(call: ToolCall, result: unknown): ToolEnd {
  const shown = result === undefined ? 'It has happened. Its result is not known.' : result;
  const encoding = encodeResult(shown, { maxCharacters: call.run.tool.maxResultCharacters });
  // That it happened is certain; a result that cannot be shown does not make it less so.
  return okEnd(
    call,
    isEncoded(encoding)
      ? encoding
      : encodedText({ text: 'It has happened. Its result cannot be shown as text.' }),
  );
}

function describeHappened(answer: unknown): string {
  const happened = readProperty(answer, 'happened');
  return typeof happened === 'string' || typeof happened === 'boolean'
    ? JSON.stringify(happened).slice(0, 100)
    : `of type ${typeof happened}`;
}

function unknown(
  call: ToolCall,
  { why, thrown }: { readonly why: string; readonly thrown?: unknown },
): VerifyEnd {
  const { tool } = call.run;
  const message = `Cannot determine whether tool "${tool.name}" has taken effect: ${why}`;
  return { type: 'unknown', failure: unknownOutcome(tool, { message, context: { verify: why }, thrown }) };
}
