import { unreachable } from '../base/assert.ts';
import { defined } from '../base/defined.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure, FailureDetails } from '../errors/failure.ts';
import type { FailureCode } from '../errors/codes.ts';
import type { Assembled } from './assembly.ts';
import { textOf } from './message.ts';
import type { ToolCallPart } from './message.ts';
import type { ModelResponse, ModelResult, PartialResult } from './model.ts';
import { costOf } from './price.ts';
import type { Price } from './price.ts';
import type { RequestNote } from './request-note.ts';
import { parseToolArguments } from './tool-arguments.ts';

interface Settling {
  readonly provider: string;
  readonly model: string;
  readonly price?: Price | undefined;
  /** What broke the stream, where something did. Then nothing that arrived is an answer. */
  readonly failure?: Failure | undefined;
  readonly notes?: readonly RequestNote[] | undefined;
}

/** The verdict on one attempt: a whole answer, or a typed failure with what had arrived. Every model ends here. */
export function settle(assembled: Assembled, settling: Settling): ModelResponse {
  const partial = toPartial(assembled, settling);
  if (settling.failure !== undefined) return { type: 'failure', failure: settling.failure, partial };
  const fault =
    findFinishFault(partial, assembled.unfinishedCalls) ??
    findContentFault(partial, assembled.unfinishedCalls);
  if (fault !== undefined) return { type: 'failure', failure: toFailure(fault, partial, settling), partial };
  return { type: 'success', result: partial as ModelResult }; // findFinishFault has seen that it has a finish.
}

/** Field by field: this is on the way of every call, and copies of objects are what costs there. */
function toPartial(assembled: Assembled, { price, notes = [] }: Settling): PartialResult {
  const { content, usage, finish, responseId, servedBy } = assembled;
  const toolCalls: ToolCallPart[] = [];
  for (const part of content) if (part.type === 'tool-call') toolCalls.push(part);
  const partial: { -readonly [Key in keyof PartialResult]: PartialResult[Key] } = {
    content,
    text: textOf(content),
    toolCalls,
    usage,
  };
  const costUsd = costOf(usage, price);
  if (finish !== undefined) partial.finish = finish;
  if (costUsd !== undefined) partial.costUsd = costUsd;
  if (responseId !== undefined) partial.responseId = responseId;
  if (servedBy !== undefined) partial.servedBy = servedBy;
  if (notes.length > 0) partial.notes = notes;
  return partial;
}

/** What keeps a response from being an answer, with its sentence. */
interface Fault {
  readonly code: FailureCode;
  readonly what: string;
  readonly context?: FailureDetails['context'];
}

function toFailure(fault: Fault, partial: PartialResult, { provider, model }: Settling): Failure {
  return createFailure(fault.code, {
    origin: 'model',
    message: `${provider} (${model}) ${fault.what}`,
    phase: 'body',
    sideEffect: 'possible',
    provider: { provider, model },
    context: defined({
      finishReason: partial.finish?.raw,
      outputTokens: partial.usage.outputTokens,
      ...fault.context,
    }),
  });
}

/** What the way it ended says about it. */
function findFinishFault(
  { finish, text }: PartialResult,
  unfinishedCalls: readonly string[],
): Fault | undefined {
  if (finish === undefined) {
    return { code: 'STREAM_INTERRUPTED', what: 'ended its answer without the closing event' };
  }
  switch (finish.reason) {
    case 'length': {
      const what = 'cut its answer off at the limit of output tokens';
      if (unfinishedCalls.length === 0) return { code: 'OUTPUT_TRUNCATED', what };
      return {
        code: 'OUTPUT_TRUNCATED',
        what: `${what}, inside a tool call`,
        context: { isInsideCall: true },
      };
    }
    case 'filtered':
      return { code: 'CONTENT_FILTERED', what: `held its answer back: ${finish.raw}` };
    case 'refused': {
      const words = text === '' ? '' : `: ${text}`;
      return { code: 'CONTENT_FILTERED', what: `refused to answer${words}`, context: { refused: true } };
    }
    case 'malformed-call':
      return {
        code: 'TOOL_CALL_INVALID',
        what: `reports that its own tool call is malformed: ${finish.raw}`,
      };
    case 'interrupted':
      return { code: 'STREAM_INTERRUPTED', what: `reports that it stopped before the end: ${finish.raw}` };
    case 'stop':
    case 'tool-calls':
    case 'other':
      return undefined;
    default:
      return unreachable(finish.reason);
  }
}

function findContentFault(
  { text, toolCalls, finish }: PartialResult,
  unfinishedCalls: readonly string[],
): Fault | undefined {
  if (unfinishedCalls.length > 0) {
    const names = unfinishedCalls.join(', ');
    return { code: 'STREAM_INTERRUPTED', what: `ended its answer inside a tool call (${names})` };
  }
  const broken = findBrokenCall(toolCalls);
  if (broken !== undefined) {
    const what = `called the tool "${broken.name}" with arguments that cannot be read. ${broken.reason}`;
    return { code: 'TOOL_CALL_INVALID', what, context: { tool: broken.name } };
  }
  if (finish?.reason === 'tool-calls' && toolCalls.length === 0) {
    return { code: 'TOOL_CALL_INVALID', what: 'announced a tool call and sent none' };
  }
  if (text.trim() === '' && toolCalls.length === 0) {
    return { code: 'EMPTY_RESPONSE', what: 'answered with neither text nor a tool call' };
  }
  return undefined;
}

function findBrokenCall(
  calls: readonly ToolCallPart[],
): { readonly name: string; readonly reason: string } | undefined {
  for (const { name, argumentsText } of calls) {
    if (name === '') return { name, reason: 'The call names no tool' };
    const parsed = parseToolArguments(argumentsText);
    // What can be read, but not exactly, is refused where calls are looked at: there the model learns why.
    if (parsed.type === 'invalid' && parsed.isInexact !== true) return { name, reason: parsed.reason };
  }
  return undefined;
}
