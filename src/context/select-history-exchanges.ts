import { unreachable } from '../base/assert.ts';
import { lazy } from '../base/lazy.ts';
import { textOf } from '../model/message.ts';
import type { Message, ToolResultPart } from '../model/message.ts';

/** A message of the user with everything up to the next one: the smallest piece of a session that can be left out. */
export interface Exchange {
  readonly messages: readonly Message[];
  readonly tokens: number;
  /** Holds a message that a caller wants to stay. */
  readonly isPinned: boolean;
}

/**
 * Cuts a session into exchanges, which joined again are the session. Never between two messages of the user in a row, which are
 * one question, and never between a call and its results. What comes before the first user belongs to the first exchange.
 */
export function splitExchanges(
  messages: readonly Message[],
  estimate: (message: Message) => number,
): readonly Exchange[] {
  const starts = messages.flatMap((_, index) => (index === 0 || isStart(messages, index) ? [index] : []));
  // The first piece may have no user; it is then no exchange of its own.
  const hasUser = messages.slice(0, starts[1]).some(({ role }) => role === 'user');
  const cuts = hasUser ? starts : starts.filter((start, place) => start === 0 || place !== 1);
  return cuts.map((start, place) => {
    const own = messages.slice(start, cuts[place + 1]);
    const isPinned = own.some((message) => message.role === 'user' && message.pinned === true);
    const count = lazy(() => own.reduce((sum, message) => sum + estimate(message), 0));
    return {
      messages: own,
      isPinned,
      // Of a long session only the end is looked at, as a rule.
      get tokens() {
        return count();
      },
    };
  });
}

/** What was said in an exchange, for finding it again: bounded, and no single result of a tool may fill it. */
export function exchangeText({ messages }: Pick<Exchange, 'messages'>, maxCharacters: number): string {
  let text = '';
  for (const message of messages) {
    if (text.length >= maxCharacters) break;
    const said = saidIn(message);
    if (said !== '') text += text === '' ? said : `\n${said}`;
  }
  return cutHead(text.trim(), maxCharacters);
}

/** The head of a text, without half a surrogate pair at its end. */
export function cutHead(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const last = text.charCodeAt(maxCharacters - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxCharacters - 1 : maxCharacters);
}

function isStart(messages: readonly Message[], index: number): boolean {
  if (messages[index]?.role !== 'user' || messages[index - 1]?.role === 'user') return false;
  let next = index + 1;
  while (messages[next]?.role === 'user') next += 1;
  // A person spoke between a call and its result.
  return messages[next]?.role !== 'tool';
}

const maxResultCharacters = 1000;

function saidIn({ role, content }: Message): string {
  switch (role) {
    case 'system':
      return '';
    case 'user':
      return typeof content === 'string' ? content : textOf(content);
    case 'assistant': {
      if (typeof content === 'string') return content;
      const calls = content.flatMap((part) =>
        part.type === 'tool-call' ? [`${part.name} ${cutHead(part.argumentsText, maxResultCharacters)}`] : [],
      );
      return [textOf(content), ...calls].filter((said) => said !== '').join('\n');
    }
    case 'tool':
      return content.map((result) => cutHead(resultText(result), maxResultCharacters)).join('\n');
    default:
      return unreachable(role);
  }
}

function resultText({ content }: ToolResultPart): string {
  return typeof content === 'string' ? content : textOf(content);
}
