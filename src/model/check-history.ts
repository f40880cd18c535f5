import type { Message, ToolCallPart, ToolResultPart } from './message.ts';
import { partsOf } from './message.ts';

/**
 * What makes a conversation one that no provider takes: a result without its call, a call without its result, two of one
 * kind. Ids are looked at turn by turn, for some servers count them from the start in every turn.
 */
export function findHistoryProblems(messages: readonly Message[]): readonly string[] {
  const problems: string[] = [];
  let open: ReadonlyMap<string, ToolCallPart> = new Map();
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (message.role === 'tool') {
      const turn = answer(open, message.content);
      problems.push(...turn.problems);
      open = turn.open;
      continue;
    }
    problems.push(...unanswered(open));
    const calls = message.role === 'assistant' ? callsOf(message) : [];
    open = new Map(calls.map((call) => [call.callId, call]));
    if (open.size < calls.length) problems.push('two tool calls of one answer have the same "callId"');
  }
  return [...problems, ...unanswered(open)];
}

function callsOf(message: Message & { readonly role: 'assistant' }): readonly ToolCallPart[] {
  return partsOf(message.content).filter((part) => part.type === 'tool-call');
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
        `the result ${show(result.callId)} of tool ${show(result.name)} has no open call before it`,
      );
    } else if (call.name !== result.name) {
      problems.push(
        `the result ${show(result.callId)} is of tool ${show(result.name)}, but its call was for ${show(call.name)}`,
      );
    }
  }
  return { open: left, problems };
}

function unanswered(open: ReadonlyMap<string, ToolCallPart>): readonly string[] {
  return [...open.values()].map(
    (call) => `the call ${show(call.callId)} of tool ${show(call.name)} has no result`,
  );
}

const maxShownCharacters = 70;

function show(text: string): string {
  return JSON.stringify(text.slice(0, maxShownCharacters));
}
