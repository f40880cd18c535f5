import { unreachable } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import type { FailureCode } from '../../errors/codes.ts';
import type { Failure } from '../../errors/failure.ts';
import { modelFailure, nameOfModel } from '../../providers/ai-sdk/failures.ts';
import type { AiSdkRecord, CheckedModel } from '../../providers/ai-sdk/language-model.ts';
import { toFinish } from '../../providers/ai-sdk/read-finish.ts';
import { readPart } from '../../providers/ai-sdk/read-part.ts';
import type { ReadPart } from '../../providers/ai-sdk/read-part.ts';
import type { AiSdkOutcome } from '../../providers/ai-sdk/tally.ts';
import type { Attempted } from '../../runtime/model-call/call-target.ts';

interface Seen {
  /** Whether the answer holds more than blank text and thoughts. */
  readonly hasContent: boolean;
  /** Whether something of it was handed on to somebody who cannot take it back. */
  readonly isFinal: boolean;
  /** Whether a filtered answer is to be asked of another model. */
  readonly asksNextOnFilter: boolean;
}

/** An attempt at an AI SDK model, as the owner of retries wants to see it. */
export function toAttempted(model: CheckedModel, outcome: AiSdkOutcome, seen: Seen): Attempted<AiSdkOutcome> {
  const finish = readPart({ ...outcome.finishPart, type: 'finish' });
  const { inputTokens, outputTokens } = finish.type === 'finish' ? finish.usage : {};
  const charge = defined({ inputTokens, outputTokens });
  const failure = outcome.type === 'failure' ? outcome.failure : findFault(model, finish, seen);
  if (failure === undefined) return { type: 'success', value: outcome, charge };
  return { type: 'failure', failure, canSplice: false, isFinal: seen.isFinal, value: outcome, charge };
}

/** What keeps an answer that came to its end from being one. What the AI SDK has a finish reason for, it is told by that. */
function findFault(model: CheckedModel, finish: ReadPart, seen: Seen): Failure | undefined {
  if (finish.type !== 'finish') return undefined;
  const { reason, raw } = toFinish(finish.finish);
  const fault = (code: FailureCode, what: string): Failure =>
    modelFailure(code, model, {
      message: `${nameOfModel(model)} ${what}`,
      phase: 'body',
      context: { finishReason: raw },
    });
  switch (reason) {
    case 'malformed-call':
      return fault('TOOL_CALL_INVALID', `reports that its own tool call is malformed: ${raw}`);
    case 'filtered':
    case 'refused':
      if (!seen.asksNextOnFilter || seen.isFinal) return undefined;
      return fault('CONTENT_FILTERED', `held its answer back: ${raw}`);
    case 'length':
      return undefined;
    case 'stop':
    case 'tool-calls':
    case 'interrupted':
    case 'other':
      return seen.hasContent
        ? undefined
        : fault('EMPTY_RESPONSE', 'answered with neither text nor a tool call');
    default:
      return unreachable(reason);
  }
}

/**
 * What a consumer has of one part of a stream: nothing, something to show that is no answer by itself (a thought, the
 * beginning of a call), something of the answer, or a call of one of its tools, which it may carry out at once.
 */
export type Sight = 'nothing' | 'shown' | 'content' | 'call';

/** Looks at one part. Blank text and signs of life are nothing. */
export function sightOf(read: ReadPart): Sight {
  switch (read.type) {
    case 'block-delta':
      if (read.delta.trim() === '') return 'nothing';
      return read.block === 'text' ? 'content' : 'shown';
    case 'call-started':
    case 'call-delta':
      return 'shown';
    case 'call':
      return 'call';
    // Files, sources, what the provider did with its own tools, and what later versions of the AI SDK think of.
    case 'foreign':
    case 'ignored':
      return 'content';
    case 'opened':
    case 'response':
    case 'block-started':
    case 'block-finished':
    case 'keep-alive':
    case 'finish':
    case 'error':
    case 'malformed':
      return 'nothing';
    default:
      return unreachable(read);
  }
}

/** Whether an answer in one piece holds more than blank text and thoughts. */
export function holdsContent(result: AiSdkRecord): boolean {
  const content = result['content'];
  return Array.isArray(content) && content.some(isContent);
}

function isContent(part: unknown): boolean {
  if (!isRecord(part) || part['type'] === 'reasoning') return false;
  return part['type'] !== 'text' || (typeof part['text'] === 'string' && part['text'].trim() !== '');
}
