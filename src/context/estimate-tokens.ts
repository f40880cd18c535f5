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
  /** What stands before the messages and is not one of them. */
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
  return remember(message, tokensOfMessage);
}

/** Estimates a whole request. */
export function estimateConversation(conversation: EstimatedConversation): ConversationEstimate {
  const { instructions = '', tools = [], output, messages } = conversation;
  let fixedTokens = instructions === '' ? 0 : messageOverheadTokens + estimateTextTokens(instructions);
  for (const tool of tools) fixedTokens += remember(tool, tokensOfTool);
  if (output !== undefined) fixedTokens += remember(output.schema, tokensOfSchema);
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

function tokensOfMessage({ content }: Message): number {
  if (typeof content === 'string') return messageOverheadTokens + estimateTextTokens(content);
  let tokens = messageOverheadTokens;
  for (const part of content) tokens += remember(part, tokensOfPart);
  return tokens;
}

type Part = TextPart | UserPart | AssistantPart | ToolResultPart;

function tokensOfPart(part: Part): number {
  switch (part.type) {
    case 'text':
      return partOverheadTokens + estimateTextTokens(part.text) + tokensOfSignature(part.signature);
    case 'reasoning':
      // Who hides the text sends it encrypted; who shows it counts the text, and the signature only proves it.
      return partOverheadTokens + Math.max(estimateTextTokens(part.text), tokensOfSignature(part.signature));
    case 'tool-call':
      return (
        callOverheadTokens +
        estimateTextTokens(part.name) +
        estimateTextTokens(part.argumentsText) +
        tokensOfSignature(part.signature)
      );
    case 'tool-result':
      return callOverheadTokens + estimateTextTokens(part.name) + tokensOfResult(part.content);
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

function tokensOfResult(content: string | readonly (TextPart | ImagePart)[]): number {
  if (typeof content === 'string') return estimateTextTokens(content);
  let tokens = 0;
  for (const part of content) tokens += remember(part, tokensOfPart);
  return tokens;
}

function tokensOfTool({ name, description = '', parameters }: ToolDefinition): number {
  return (
    toolOverheadTokens +
    estimateTextTokens(name) +
    estimateTextTokens(description) +
    estimateTextTokens(JSON.stringify(parameters))
  );
}

function tokensOfSchema(schema: JsonSchema): number {
  return toolOverheadTokens + estimateTextTokens(JSON.stringify(schema));
}
