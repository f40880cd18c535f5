import type { Message, ToolCallPart, ToolResultPart } from '../message.ts';
import { showName } from './show-value.ts';

/**
 * What makes a conversation one that no provider takes: a result without its call, a call without its result, two of one
 * kind. Ids are looked at turn by turn, for some servers count them from the start in every turn.
 */
export function findHistoryProblems(messages: readonly Message[]): readonly string[] {
  const problems: string[] = [];
  let open = noCalls;
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (message.role === 'tool') {
      const turn = answer(open, message.content);
      problems.push(...turn.problems);
      open = turn.open;
      continue;
    }
    if (open.size > 0) problems.push(...unanswered(open));
    const calls = message.role === 'assistant' ? callsOf(message) : noParts;
    open = calls.length === 0 ? noCalls : new Map(calls.map((call) => [call.callId, call]));
    if (open.size < calls.length) problems.push('two tool calls of one answer have the same "callId"');
  }
  return open.size === 0 ? problems : [...problems, ...unanswered(open)];
}

const noCalls: ReadonlyMap<string, ToolCallPart> = new Map();
const noParts: readonly ToolCallPart[] = [];

function callsOf(message: Message & { readonly role: 'assistant' }): readonly ToolCallPart[] {
  if (typeof message.content === 'string') return noParts;
  return message.content.filter((part) => part.type === 'tool-call');
}

function answer(
  open: ReadonlyMap<string, ToolCallPart>,
  results: readonly ToolResultPart[],
): { readonly open: ReadonlyMap<string, ToolCallPart>; readonly problems: readonly string[] } {
  const left = new Map(open);
  const problems: string[] = [];
  for (const result of results) {
    const call = left.get(result.callId);
    left.delete(result.callId);
    if (call === undefined) {
      problems.push(
        `the result ${showName(result.callId)} of tool ${showName(result.name)} has no open call before it`,
      );
    } else if (call.name !== result.name) {
      problems.push(
        `the result ${showName(result.callId)} is of tool ${showName(result.name)}, but its call was for ${showName(call.name)}`,
      );
    }
  }
  return { open: left, problems };
}

function unanswered(open: ReadonlyMap<string, ToolCallPart>): readonly string[] {
  return [...open.values()].map(
    (call) => `the call ${showName(call.callId)} of tool ${showName(call.name)} has no result`,
  );
}
