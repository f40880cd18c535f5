import { unreachable } from '../base/assert.ts';
import type {
  AssistantPart,
  ImagePart,
  Message,
  Signature,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../model/message.ts';
import type { JsonSchema, ToolDefinition } from '../model/request.ts';
import { estimateTextTokens } from './text-tokens.ts';

/** All that is sent to a model. */
export interface EstimatedConversation {
  /** What is before the messages and is not one of them. */
  readonly instructions?: string;
  readonly tools?: readonly ToolDefinition[];
  /** The schema of the answer. */
  readonly output?: { readonly name: string; readonly schema: JsonSchema };
  readonly messages: readonly Message[];
}

/** What it is estimated to take. */
export interface ConversationEstimate {
  /** Instructions, tools and the schema of the answer: what no compaction can save. */
  readonly fixedTokens: number;
  readonly messageTokens: number;
  readonly totalTokens: number;
}

/** Role, separators, and what a provider's own form adds. */
const messageOverheadTokens = 4;
const partOverheadTokens = 2;
/** The names around a call or a result, and its id. */
const callOverheadTokens = 12;
const toolOverheadTokens = 12;
/** What providers make of an image of usual size. Its bytes are no text. */
const imageTokens = 1600;
/** A document of a few pages, which most providers read as text and as pictures. */
const fileTokens = 5000;
/** Encrypted thoughts: base64 of what they hold, of which every three bytes or so were a token. */
const signatureCharactersPerToken = 4;

/**
 * Estimates what one message takes of a model's window: a whole number, rather too high than too low. Each message and each part
 * is looked at once, so that a turn costs only what is new in it.
 */
export function estimateTokens(message: Message): number {
  return remember(message, (given) => countMessage(given, estimateTextTokens));
}

/** How many tokens a text has. */
export type CountText = (text: string) => number;

/** The same by another count of texts, and without remembering. What is no text is estimated. */
export function countMessage({ content }: Message, count: CountText): number {
  if (typeof content === 'string') return messageOverheadTokens + count(content);
  let tokens = messageOverheadTokens;
  for (const part of content) tokens += countPart(part, count);
  return tokens;
}

/** What stands beside the messages, by another count of texts. */
export function countConversation(
  { instructions = '', tools = [], output }: Omit<EstimatedConversation, 'messages'>,
  count: CountText,
): number {
  let tokens = instructions === '' ? 0 : messageOverheadTokens + count(instructions);
  for (const tool of tools) tokens += tokensOfTool(tool, count);
  return output === undefined ? tokens : tokens + tokensOfSchema(output.schema, count);
}

/** Estimates a whole request. */
export function estimateConversation(conversation: EstimatedConversation): ConversationEstimate {
  const { instructions = '', tools = [], output, messages } = conversation;
  let fixedTokens = instructions === '' ? 0 : messageOverheadTokens + estimateTextTokens(instructions);
  for (const tool of tools) fixedTokens += remember(tool, (given) => tokensOfTool(given, estimateTextTokens));
  if (output !== undefined)
    fixedTokens += remember(output.schema, (given) => tokensOfSchema(given, estimateTextTokens));
  let messageTokens = 0;
  for (const message of messages) messageTokens += estimateTokens(message);
  return { fixedTokens, messageTokens, totalTokens: fixedTokens + messageTokens };
}

/** Messages are never altered, so what was counted once stays true, and goes when they go. */
const counted = new WeakMap<object, number>();

function remember<Counted extends object>(value: Counted, count: (value: Counted) => number): number {
  const known = counted.get(value);
  if (known !== undefined) return known;
  const tokens = count(value);
  counted.set(value, tokens);
  return tokens;
}

type Part = TextPart | UserPart | AssistantPart | ToolResultPart;

/** Parts are counted once where the count is ours. */
function countPart(part: Part, count: CountText): number {
  return count === estimateTextTokens
    ? remember(part, (given) => tokensOfPart(given, estimateTextTokens))
    : tokensOfPart(part, count);
}

function tokensOfPart(part: Part, count: CountText): number {
  switch (part.type) {
    case 'text':
      return partOverheadTokens + count(part.text) + tokensOfSignature(part.signature);
    case 'reasoning':
      // Who hides the text sends it encrypted; who shows it counts the text, and the signature only proves it.
      return partOverheadTokens + Math.max(count(part.text), tokensOfSignature(part.signature));
    case 'tool-call':
      return (
        callOverheadTokens + count(part.name) + count(part.argumentsText) + tokensOfSignature(part.signature)
      );
    case 'tool-result':
      return callOverheadTokens + count(part.name) + tokensOfResult(part.content, count);
    case 'image':
      return imageTokens;
    case 'file':
      return fileTokens;
    default:
      return unreachable(part);
  }
}

function tokensOfSignature(signature: Signature | undefined): number {
  return signature === undefined ? 0 : Math.ceil(signature.value.length / signatureCharactersPerToken);
}

function tokensOfResult(content: string | readonly (TextPart | ImagePart)[], count: CountText): number {
  if (typeof content === 'string') return count(content);
  let tokens = 0;
  for (const part of content) tokens += countPart(part, count);
  return tokens;
}

function tokensOfTool({ name, description = '', parameters }: ToolDefinition, count: CountText): number {
  return toolOverheadTokens + count(name) + count(description) + count(JSON.stringify(parameters));
}

function tokensOfSchema(schema: JsonSchema, count: CountText): number {
  return toolOverheadTokens + count(JSON.stringify(schema));
}
