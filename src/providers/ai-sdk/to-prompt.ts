import { unreachable } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import { partsOf, textOf } from '../../model/message.ts';
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  Message,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../model/message.ts';
import { toToolName } from '../../model/tool-name.ts';
import { toolInput } from '../protocols/tool-input.ts';
import { dialectOf, joinOptions } from './dialects.ts';
import type { PackageOptions } from './dialects.ts';
import type { AiSdkRecord, CheckedModel } from './language-model.ts';
import { fromSignature, isSignedBy } from './signature.ts';

/** The history in the words of the model's specification. What cannot be said in them is added to `problems`. */
export function toPrompt(
  messages: readonly Message[],
  model: CheckedModel,
  problems: string[],
): readonly AiSdkRecord[] {
  return messages.flatMap((message) => toMessages(message, { model, problems }));
}

interface Target {
  readonly model: CheckedModel;
  /** Filled with what cannot be sent. */
  readonly problems: string[];
}

function toMessages(message: Message, target: Target): readonly AiSdkRecord[] {
  switch (message.role) {
    case 'system':
      return toSystem(partsOf(message.content), target);
    case 'user':
      return [{ role: 'user', content: partsOf(message.content).map((part) => toUserPart(part, target)) }];
    case 'assistant':
      return [
        {
          role: 'assistant',
          content: partsOf(message.content).flatMap((part) => toAssistantPart(part, target)),
        },
      ];
    case 'tool':
      return [{ role: 'tool', content: message.content.map((part) => toToolResult(part, target)) }];
    default:
      return unreachable(message);
  }
}

/** A system message is one text; only a mark for the cache needs a message of its own to stand on. */
function toSystem(parts: readonly TextPart[], target: Target): readonly AiSdkRecord[] {
  const last = parts.findLastIndex((part) => part.cache === true) + 1;
  const [marked, rest] = [parts.slice(0, last), parts.slice(last)];
  const toMessage = (texts: readonly TextPart[], isMarked: boolean): readonly AiSdkRecord[] =>
    texts.length === 0
      ? []
      : [{ role: 'system', content: textOf(texts), ...options([isMarked ? cacheOf(target) : undefined]) }];
  return [...toMessage(marked, true), ...toMessage(rest, false)];
}

function toUserPart(part: UserPart, target: Target): AiSdkRecord {
  const cached = options([part.cache === true ? cacheOf(target) : undefined]);
  if (part.type === 'text') return { type: 'text', text: part.text, ...cached };
  const filename = part.type === 'file' ? part.name : undefined;
  return {
    type: 'file',
    mediaType: part.mediaType,
    data: toData(part, target),
    ...defined({ filename }),
    ...cached,
  };
}

/** Bytes or an address: bare up to the third specification, told apart by a type in the fourth. */
function toData({ source }: ImagePart | FilePart, { model, problems }: Target): unknown {
  if (source.type === 'base64')
    return model.version === 'v4' ? { type: 'data', data: source.data } : source.data;
  const url = URL.canParse(source.url) ? new URL(source.url) : undefined;
  if (url === undefined) problems.push(`"${source.url}" is no URL`);
  return model.version === 'v4' ? { type: 'url', url } : url;
}

function toAssistantPart(part: AssistantPart, target: Target): readonly AiSdkRecord[] {
  const { model } = target;
  const signed = fromSignature(model, part.signature);
  switch (part.type) {
    case 'text': {
      const cached = part.cache === true ? cacheOf(target) : undefined;
      return part.text === '' && signed === undefined
        ? []
        : [{ type: 'text', text: part.text, ...options([signed, cached]) }];
    }
    case 'reasoning':
      return isSignedBy(model, part.signature)
        ? [{ type: 'reasoning', text: part.text, ...options([signed]) }]
        : [];
    case 'tool-call':
      return [
        {
          type: 'tool-call',
          toolCallId: part.callId,
          toolName: toToolName(part.name),
          input: toolInput(part.argumentsText),
          ...options([signed]),
        },
      ];
    default:
      return unreachable(part);
  }
}

function toToolResult(part: ToolResultPart, target: Target): AiSdkRecord {
  return {
    type: 'tool-result',
    toolCallId: part.callId,
    toolName: toToolName(part.name),
    output: toOutput(part, target),
    ...options([part.cache === true ? cacheOf(target) : undefined]),
  };
}

/** An error with pictures is sent as content: the specifications have errors of text and of JSON only. */
function toOutput({ content, isError }: ToolResultPart, target: Target): AiSdkRecord {
  const parts = partsOf(content);
  if (parts.some((part) => part.type === 'image'))
    return { type: 'content', value: parts.map((part) => toResultPart(part, target)) };
  return { type: isError === true ? 'error-text' : 'text', value: textOf(parts) };
}

/** Each specification has its own words for a picture in a result. */
function toResultPart(part: TextPart | ImagePart, target: Target): AiSdkRecord {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mediaType, source } = part;
  const { version } = target.model;
  if (version === 'v4') return { type: 'file', mediaType, data: toData(part, target) };
  if (source.type === 'base64')
    return { type: version === 'v2' ? 'media' : 'image-data', data: source.data, mediaType };
  if (version === 'v2')
    target.problems.push(
      'a tool result holds a picture by its URL, which models of specification v2 do not take',
    );
  return { type: 'image-url', url: source.url };
}

function cacheOf({ model }: Target): PackageOptions | undefined {
  return dialectOf(model).cache;
}

function options(list: readonly (PackageOptions | undefined)[]): {
  readonly providerOptions?: PackageOptions;
} {
  return defined({ providerOptions: joinOptions(list) });
}
