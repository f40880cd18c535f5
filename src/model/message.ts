/** The wire protocols that a model may speak; a signature is only worth something to the one that made it. */
export type ProtocolName = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini' | (string & {});

/** What a provider wants back byte for byte, with the protocol that wrote it. Never looked into, never altered. */
export interface Signature {
  readonly protocol: ProtocolName;
  readonly value: string;
  /** The provider's own name for the item, where it wants that back too. */
  readonly id?: string;
}

/** Text. `cache` asks the provider to cache the prompt up to here, where it can be asked. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly cache?: boolean;
  readonly signature?: Signature;
}

/** Where the bytes of an image or a file are. */
export type MediaSource =
  { readonly type: 'base64'; readonly data: string } | { readonly type: 'url'; readonly url: string };

export interface ImagePart {
  readonly type: 'image';
  readonly mediaType: string;
  readonly source: MediaSource;
  readonly cache?: boolean;
}

export interface FilePart {
  readonly type: 'file';
  readonly mediaType: string;
  readonly source: MediaSource;
  readonly name?: string;
  readonly cache?: boolean;
}

/** What the model thought aloud. Sent back only to the protocol that signed it. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  /** Empty where the provider keeps it to itself. */
  readonly text: string;
  readonly signature?: Signature;
  /** The provider encrypted the text itself; the signature's value is all there is. */
  readonly isRedacted?: boolean;
}

/** A tool that the model wants called. Its arguments are the model's own text: the code that runs it parses it first. */
export interface ToolCallPart {
  readonly type: 'tool-call';
  /** Distinct within a run. */
  readonly callId: string;
  /** The id that the provider gave, where it was empty, in use already or unreadable and `callId` is one of ours. */
  readonly providerCallId?: string;
  readonly name: string;
  /** As the model wrote it, byte for byte. JSON by intention only: see `parseToolArguments`. */
  readonly argumentsText: string;
  readonly signature?: Signature;
}

/** What came of a tool call. */
export interface ToolResultPart {
  readonly type: 'tool-result';
  readonly callId: string;
  readonly name: string;
  readonly content: string | readonly (TextPart | ImagePart)[];
  readonly isError?: boolean;
  readonly cache?: boolean;
}

export type UserPart = TextPart | ImagePart | FilePart;
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart;

/** One entry of a conversation. A plain string is one text part. */
export type Message =
  | { readonly role: 'system'; readonly content: string | readonly TextPart[] }
  | {
      readonly role: 'user';
      readonly content: string | readonly UserPart[];
      /** Stays in the conversation, whole, whenever it is made shorter. Providers do not see it. */
      readonly pinned?: true;
    }
  | { readonly role: 'assistant'; readonly content: string | readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly content: readonly ToolResultPart[] };

/** The content of a message as a list of parts. */
export function partsOf<Part>(content: string | readonly Part[]): readonly (Part | TextPart)[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The text of a list of parts, without reasoning, calls and media. */
export function textOf(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  let text = '';
  for (const part of parts) if (part.type === 'text') text += part.text ?? '';
  return text;
}
