import { unreachable } from '../../../base/assert.ts';
import { defined } from '../../../base/defined.ts';
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  MediaSource,
  Message,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../../model/message.ts';
import { toToolName } from '../../../model/tool-name.ts';
import { createCacheMarks } from './anthropic-cache.ts';
import type { CacheControl } from './anthropic-cache.ts';
import type { Turn } from '../conversation.ts';
import { toolInput } from '../tool-input.ts';
import { callIdForms, createWireCallIds } from '../wire-call-ids.ts';
import type { WireCallIds } from '../wire-call-ids.ts';

/** One block of content on the wire. */
export type Block = Readonly<Record<string, unknown>>;

/** What the blocks of one request share. */
export interface BlockContext {
  readonly callIds: WireCallIds;
  readonly cacheControl: (part: UserPart | ToolResultPart) => CacheControl;
}

/** Begins a request. Its blocks must be made in the order of the history. */
export function createBlockContext(messages: readonly Message[]): BlockContext {
  return { callIds: createWireCallIds(callIdForms.anthropic), cacheControl: createCacheMarks(messages) };
}

/** The system's words: plain text where one text is all there is, blocks where marks or several texts ask for them. */
export function systemContent(
  parts: readonly TextPart[],
  context: BlockContext,
): string | readonly Block[] | undefined {
  const blocks = parts.flatMap((part) => userBlocks(part, context));
  const [only] = blocks;
  if (only === undefined) return undefined;
  return blocks.length === 1 && only['cache_control'] === undefined ? String(only['text']) : blocks;
}

/** The blocks of one turn. */
export function turnBlocks(turn: Turn, context: BlockContext): readonly Block[] {
  if (turn.role === 'assistant') return turn.parts.flatMap((part) => assistantBlocks(part, context));
  return [
    ...turn.results.map((part) => resultBlock(part, context)),
    ...turn.parts.flatMap((part) => userBlocks(part, context)),
  ];
}

function assistantBlocks(part: AssistantPart, { callIds }: BlockContext): readonly Block[] {
  switch (part.type) {
    case 'text':
      return textBlocks(part.text);
    case 'reasoning': {
      // Anthropic takes no thoughts but its own: their signature is checked against their text.
      const { signature } = part;
      if (signature?.protocol !== 'anthropic') return [];
      if (part.isRedacted === true) return [{ type: 'redacted_thinking', data: signature.value }];
      return [{ type: 'thinking', thinking: part.text, signature: signature.value }];
    }
    case 'tool-call': {
      const { callId, name, argumentsText } = part;
      const id = callIds.forCall(callId);
      return [{ type: 'tool_use', id, name: toToolName(name), input: toolInput(argumentsText) }];
    }
    default:
      return unreachable(part);
  }
}

function userBlocks(part: UserPart, { cacheControl }: BlockContext): readonly Block[] {
  switch (part.type) {
    case 'text': {
      const mark = cacheControl(part); // Asked even where the text is left out, since every mark is counted.
      return textBlocks(part.text).map((block) => ({ ...block, ...mark }));
    }
    case 'image':
      return [{ ...imageBlock(part), ...cacheControl(part) }];
    case 'file':
      return [{ type: 'document', source: documentSource(part), ...titleOf(part), ...cacheControl(part) }];
    default:
      return unreachable(part);
  }
}

/** Anthropic refuses a text of nothing but white space, and such a text says nothing. */
function textBlocks(text: string): readonly Block[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function imageBlock({ mediaType, source }: ImagePart): Block {
  return { type: 'image', source: mediaSource(source, mediaType) };
}

function mediaSource(source: MediaSource, mediaType: string): Block {
  if (source.type === 'url') return { type: 'url', url: source.url };
  return { type: 'base64', media_type: mediaType, data: source.data };
}

/** Text goes as text: as base64 Anthropic takes PDF only. */
function documentSource({ mediaType, source }: FilePart): Block {
  if (source.type === 'url' || !/^text\//i.test(mediaType)) return mediaSource(source, mediaType);
  return {
    type: 'text',
    media_type: 'text/plain',
    data: Buffer.from(source.data, 'base64').toString('utf8'),
  };
}

function titleOf({ name }: FilePart): Block {
  return defined({ title: name });
}

function resultBlock(part: ToolResultPart, { callIds, cacheControl }: BlockContext): Block {
  const content = resultContent(part);
  // Anthropic refuses an error that says nothing.
  const isSilentError = part.isError === true && content.length === 0;
  return {
    type: 'tool_result',
    tool_use_id: callIds.forResult(part.callId),
    content: isSilentError ? 'The tool failed and said nothing about it.' : content,
    ...(part.isError === true ? { is_error: true } : {}),
    ...cacheControl(part),
  };
}

function resultContent({ content }: ToolResultPart): string | readonly Block[] {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? textBlocks(part.text) : [imageBlock(part)]));
}
