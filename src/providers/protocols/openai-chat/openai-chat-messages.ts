import { unreachable } from '../../../base/assert.ts';
import { defined } from '../../../base/defined.ts';
import type {
  AssistantPart,
  ImagePart,
  Message,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../../model/message.ts';
import type { ModelRequest } from '../../../model/request.ts';
import { toToolName } from '../../../model/tool-name.ts';
import { isAskedAgain } from '../anthropic/anthropic-prefix.ts';
import type { OpenaiChatDialect } from './openai-chat-dialect.ts';
import { fileName, mediaUrl, toolResultImages, toolResultText } from '../openai-media.ts';
import { callIdForms, createWireCallIds } from '../wire-call-ids.ts';
import type { WireCallIds } from '../wire-call-ids.ts';

type WireMessage = Readonly<Record<string, unknown>>;

/** The conversation in the words of Chat Completions. */
export function toChatMessages(request: ModelRequest, dialect: OpenaiChatDialect): readonly WireMessage[] {
  const messages: WireMessage[] = [];
  const writing: Writing = {
    dialect,
    callIds: createWireCallIds(callIdForms[dialect.callIds ?? 'openai-chat']),
  };
  let images: WireMessage[] = [];
  for (const message of request.messages) {
    if (message.role === 'tool') {
      for (const part of message.content) {
        messages.push(toToolMessage(part, writing));
        if (typeof part.content !== 'string') images.push(...toImageParts(part, writing.callIds));
      }
      continue;
    }
    // Every call must be answered before anything else is said, so images wait for the last of the results.
    if (images.length > 0) messages.push({ role: 'user', content: images });
    images = [];
    const wire = toMessage(message, writing);
    if (wire !== undefined) messages.push(wire);
  }
  if (images.length > 0) messages.push({ role: 'user', content: images });
  if (dialect.promptCache === true && isAskedAgain(request)) markPrefix(messages);
  const continuation = toContinuation(request, dialect);
  if (continuation !== undefined) messages.push(continuation);
  return messages;
}

/** Marks the instructions and the latest words, as Anthropic's models want it behind OpenRouter. */
function markPrefix(messages: WireMessage[]): void {
  const isMarked = JSON.stringify(messages).includes('"cache_control"');
  if (isMarked) return; // The caller has marks of their own.
  const system = messages.findLastIndex(({ role }) => role === 'system');
  const latest = messages.findLastIndex(({ role }) => role === 'user' || role === 'tool');
  for (const index of [system, latest]) {
    const { content } = messages[index] ?? {};
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (!Array.isArray(parts) || parts.length === 0) continue;
    const last = { ...(parts.at(-1) as object), cache_control: { type: 'ephemeral' } };
    messages[index] = { ...messages[index], content: [...(parts.slice(0, -1) as readonly object[]), last] };
  }
}

/** What the messages of one request share. */
interface Writing {
  readonly dialect: OpenaiChatDialect;
  readonly callIds: WireCallIds;
}

/** A plain string goes as it is: all of a conversation is written anew for each call, so this stands on its way. */
function toMessage(
  { role, content }: Exclude<Message, { role: 'tool' }>,
  writing: Writing,
): WireMessage | undefined {
  const { dialect } = writing;
  const isPlain = typeof content === 'string';
  switch (role) {
    case 'system': {
      const text = isPlain ? content : toTextContent(content, { dialect, separator: '\n\n' });
      return { role: dialect.systemRole ?? 'system', content: text };
    }
    case 'user':
      return { role, content: isPlain ? content : toUserContent(content, dialect) };
    case 'assistant':
      return isPlain ? { role, content } : toAssistantMessage(content, writing);
    default:
      return unreachable(role);
  }
}

interface TextForm {
  readonly dialect: OpenaiChatDialect;
  /** What stands between parts where they become one string. */
  readonly separator: '' | '\n\n';
}

function toTextContent(parts: readonly TextPart[], { dialect, separator }: TextForm): unknown {
  const isMarked = dialect.cacheControl === true && parts.some(({ cache }) => cache === true);
  const isJoined = separator === '' || parts.length < 2 || dialect.textParts === false;
  if (isJoined && !isMarked) return parts.map(({ text }) => text).join(separator);
  return parts.map((part) => toTextPart(part, dialect));
}

function toTextPart({ text, cache }: TextPart, { cacheControl }: OpenaiChatDialect): object {
  const isMarked = cache === true && cacheControl === true;
  return defined({ type: 'text', text, cache_control: isMarked ? { type: 'ephemeral' } : undefined });
}

function toUserContent(parts: readonly UserPart[], dialect: OpenaiChatDialect): unknown {
  if (parts.every((part) => part.type === 'text'))
    return toTextContent(parts, { dialect, separator: '\n\n' });
  return parts.map((part) => toUserPart(part, dialect));
}

function toUserPart(part: UserPart, dialect: OpenaiChatDialect): object {
  switch (part.type) {
    case 'text':
      return toTextPart(part, dialect);
    case 'image':
      return toImagePart(part);
    case 'file':
      return { type: 'file', file: { filename: fileName(part), file_data: mediaUrl(part) } };
    default:
      return unreachable(part);
  }
}

function toImagePart(part: ImagePart): WireMessage {
  return { type: 'image_url', image_url: { url: mediaUrl(part) } };
}

/** Texts are joined as they stand, for together they are what the model wrote. */
function toAssistantMessage(
  parts: readonly AssistantPart[],
  { dialect, callIds }: Writing,
): WireMessage | undefined {
  const texts: TextPart[] = [];
  const calls: object[] = [];
  for (const part of parts) {
    if (part.type === 'text') texts.push(part);
    if (part.type === 'tool-call') calls.push(toToolCall(part, callIds));
  }
  const reasoning = dialect.reasoningBack === undefined ? '' : ownReasoning(parts);
  // A turn of which nothing may be sent back (reasoning alone) would be refused as an empty message.
  if (texts.length === 0 && calls.length === 0 && reasoning === '') return undefined;
  const hasCallsOnly = texts.length === 0 && calls.length > 0;
  const message: Record<string, unknown> = {
    role: 'assistant',
    content: hasCallsOnly ? null : toTextContent(texts, { dialect, separator: '' }),
  };
  if (reasoning !== '') message[dialect.reasoningBack ?? 'reasoning_content'] = reasoning;
  if (calls.length > 0) message['tool_calls'] = calls;
  return message;
}

/** What another protocol signed is of no use here. */
function ownReasoning(parts: readonly AssistantPart[]): string {
  return parts
    .map((part) => (part.type === 'reasoning' && part.signature === undefined ? part.text : ''))
    .join('');
}

/** Arguments go back as they came; but servers parse them, and no text at all is not JSON. */
function toToolCall({ callId, name, argumentsText }: ToolCallPart, callIds: WireCallIds): object {
  const text = argumentsText.trim() === '' ? '{}' : argumentsText;
  return {
    id: callIds.forCall(callId),
    type: 'function',
    function: { name: toToolName(name), arguments: text },
  };
}

function toToolMessage(part: ToolResultPart, { dialect, callIds }: Writing): WireMessage {
  const text = toolResultText(part);
  const tool_call_id = callIds.forResult(part.callId);
  if (typeof part.content === 'string' && part.cache !== true) {
    return { role: 'tool', tool_call_id, content: text };
  }
  const hasOnlyImages = text === '' && toolResultImages(part).length > 0;
  const result: TextPart = {
    type: 'text',
    text: hasOnlyImages ? 'The result is in the images that follow.' : text,
    cache: part.cache === true,
  };
  const content = toTextContent([result], { dialect, separator: '' });
  return { role: 'tool', tool_call_id, content };
}

/** A tool's message can hold only text, so its images follow as if the user had sent them, and say whose they are. */
function toImageParts(part: ToolResultPart, callIds: WireCallIds): readonly WireMessage[] {
  const images = toolResultImages(part);
  if (images.length === 0) return [];
  const caption = `Images from the tool "${toToolName(part.name)}" (call ${callIds.forResult(part.callId)}):`;
  return [{ type: 'text', text: caption }, ...images.map(toImagePart)];
}

function toContinuation(
  { continueFrom }: ModelRequest,
  { continuation }: OpenaiChatDialect,
): WireMessage | undefined {
  if (continueFrom === undefined || continuation === undefined) return undefined;
  const message = { role: 'assistant', content: continueFrom };
  return continuation === 'prefix' ? { ...message, prefix: true } : message;
}
