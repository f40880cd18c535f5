import { boundText } from '../../base/text.ts';
import type { Json } from '../../base/json.ts';
import { partsOf, textOf } from '../../model/message.ts';
import type { Message, ToolCallPart, ToolResultPart } from '../../model/message.ts';
import { parseToolArguments } from '../../model/tool-arguments.ts';

/** What the mind makes of the messages. */
export interface Conversation {
  /** What the person said, the latest last. */
  readonly userTexts: readonly string[];
  /** What the person said last, or nothing. */
  readonly lastUserText: string;
  /** What the mind asked back before that, where it did. */
  readonly lastAssistantText: string;
  /** Calls since the person spoke, each with what came of it. */
  readonly calls: readonly PastCall[];
  /** An answer that was begun and broke off: it is to be continued. */
  readonly begun: string;
}

/** A call that was made, with its result where there is one. */
export interface PastCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, Json>>;
  readonly result?: { readonly text: string; readonly isError: boolean };
}

const maxMessages = 200;
const maxTextLength = 20_000;
/** Some wire protocols cannot mark a result as an error; then its words are all there is. */
const readsAsError = /^\s*\W?(?:error|failure|failed)\b\W?\s*[:—-]/i;

/** Reads the latest messages, bounded: older ones are beyond the mind. */
export function readConversation(given: readonly Message[]): Conversation {
  const { messages, begun } = takeBegun(given.slice(-maxMessages).filter((message) => !isNote(message)));
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const userTexts = messages.filter(({ role }) => role === 'user').map(textOfMessage);
  const before = messages.slice(0, Math.max(0, lastUser));
  const lastAssistant = before.findLast(({ role }) => role === 'assistant');
  return {
    userTexts,
    lastUserText: userTexts.at(-1) ?? '',
    lastAssistantText: lastAssistant === undefined ? '' : textOfMessage(lastAssistant),
    calls: readCalls(messages.slice(lastUser + 1)),
    begun,
  };
}

/** What a runtime says between the turns is not what the person asked for. */
function isNote(message: Message): boolean {
  return message.role === 'user' && textOfMessage(message).startsWith('[Note from the runtime]');
}

/** The text of a message, without calls, reasoning and media. */
export function textOfMessage({ content }: Message): string {
  const parts: readonly { readonly type: string; readonly text?: string }[] =
    typeof content === 'string' ? partsOf(content) : content;
  return boundText(textOf(parts), maxTextLength);
}

/** A conversation that ends with the assistant's own words asks it to go on with them. */
function takeBegun(messages: readonly Message[]): {
  readonly messages: readonly Message[];
  readonly begun: string;
} {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return { messages, begun: '' };
  const hasCalls = partsOf(last.content).some(({ type }) => type === 'tool-call');
  return hasCalls ? { messages, begun: '' } : { messages: messages.slice(0, -1), begun: textOfMessage(last) };
}

/** Turn by turn, for some servers count the ids of calls from the start in every turn. */
function readCalls(messages: readonly Message[]): readonly PastCall[] {
  const past: PastCall[] = [];
  let open: readonly ToolCallPart[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      past.push(...open.map((call) => pastCall(call, undefined)));
      open = partsOf(message.content).filter((part) => part.type === 'tool-call');
    }
    if (message.role !== 'tool') continue;
    for (const result of message.content) {
      const call = open.find(({ callId }) => callId === result.callId);
      past.push(pastCall(call ?? { name: result.name, argumentsText: '' }, result));
      open = open.filter((other) => other !== call);
    }
  }
  return [...past, ...open.map((call) => pastCall(call, undefined))];
}

function pastCall(
  { name, argumentsText }: Pick<ToolCallPart, 'name' | 'argumentsText'>,
  result: ToolResultPart | undefined,
): PastCall {
  const parsed = parseToolArguments(argumentsText);
  const call = { name, arguments: parsed.type === 'parsed' ? parsed.value : {} };
  return result === undefined ? call : { ...call, result: readResult(result) };
}

function readResult({ content, isError }: ToolResultPart): NonNullable<PastCall['result']> {
  const parts: readonly { readonly type: string; readonly text?: string }[] = partsOf(content);
  const text = boundText(textOf(parts), maxTextLength);
  const media = parts.filter(({ type }) => type !== 'text').length;
  const note = media === 0 ? '' : `(and ${media} image${media === 1 ? '' : 's'} that I cannot see)`;
  return {
    text: [text, note].filter(Boolean).join(' '),
    isError: isError === true || readsAsError.test(text),
  };
}
