import { unreachable } from '../../../base/assert.ts';
import { partsOf } from '../../../model/message.ts';
import type {
  AssistantPart,
  ImagePart,
  Message,
  ReasoningPart,
  ToolResultPart,
  UserPart,
} from '../../../model/message.ts';
import { toToolName } from '../../../model/tool-name.ts';
import { fileName, mediaUrl, toolResultImages, toolResultText } from '../openai-media.ts';
import type { OpenaiResponsesDialect } from './openai-responses-dialect.ts';
import { callIdForms, createWireCallIds } from '../wire-call-ids.ts';
import type { WireCallIds } from '../wire-call-ids.ts';

type Item = Readonly<Record<string, unknown>>;

interface ResponsesInput {
  readonly instructions?: string;
  readonly input: readonly Item[];
}

/** The conversation in the words of Responses. What the system says at its beginning becomes the instructions. */
export function toResponsesInput(
  messages: readonly Message[],
  dialect: OpenaiResponsesDialect,
): ResponsesInput {
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  const leading = firstOther === -1 ? messages.length : firstOther;
  const count = dialect.instructions === false ? 0 : leading;
  const instructions = messages.slice(0, count).map(systemText).join('\n\n');
  const writing: Writing = { dialect, callIds: createWireCallIds(callIdForms['openai-responses']) };
  return {
    ...(instructions === '' ? {} : { instructions }),
    input: messages.slice(count).flatMap((message) => toItems(message, writing)),
  };
}

function systemText({ role, content }: Message): string {
  if (role !== 'system') return '';
  return partsOf(content)
    .map(({ text }) => text)
    .join('\n\n');
}

/** What the items of one request share. */
interface Writing {
  readonly dialect: OpenaiResponsesDialect;
  readonly callIds: WireCallIds;
}

function toItems(message: Message, { dialect, callIds }: Writing): readonly Item[] {
  switch (message.role) {
    case 'system': {
      const content = [{ type: 'input_text', text: systemText(message) }];
      return [{ type: 'message', role: dialect.systemRole ?? 'developer', content }];
    }
    case 'user':
      return [{ type: 'message', role: 'user', content: partsOf(message.content).map(toInputPart) }];
    case 'assistant':
      return partsOf(message.content).flatMap((part) => toAssistantItem(part, callIds));
    case 'tool':
      return message.content.map((part) => toResultItem(part, callIds));
    default:
      return unreachable(message);
  }
}

function toInputPart(part: UserPart): object {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return toImagePart(part);
    case 'file':
      return part.source.type === 'url'
        ? { type: 'input_file', file_url: part.source.url }
        : { type: 'input_file', filename: fileName(part), file_data: mediaUrl(part) };
    default:
      return unreachable(part);
  }
}

function toImagePart(part: ImagePart): object {
  return { type: 'input_image', image_url: mediaUrl(part), detail: 'auto' };
}

/** The order of the items is kept: reasoning must stand before what it led to. */
function toAssistantItem(part: AssistantPart, callIds: WireCallIds): readonly Item[] {
  switch (part.type) {
    case 'text': {
      const content = [{ type: 'output_text', text: part.text }];
      return part.text === '' ? [] : [{ type: 'message', role: 'assistant', content }];
    }
    case 'reasoning':
      return toReasoningItem(part);
    case 'tool-call': {
      // Arguments go back as they came; but servers parse them, and no text at all is not JSON.
      const text = part.argumentsText.trim() === '' ? '{}' : part.argumentsText;
      const call_id = callIds.forCall(part.callId);
      return [{ type: 'function_call', call_id, name: toToolName(part.name), arguments: text }];
    }
    default:
      return unreachable(part);
  }
}

/** Only what this protocol encrypted can be read there; the text is a summary for people. */
function toReasoningItem({ text, signature }: ReasoningPart): readonly Item[] {
  if (signature?.protocol !== 'openai-responses') return [];
  const { id, value } = signature;
  return [
    {
      type: 'reasoning',
      ...(id === undefined ? {} : { id }),
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
      encrypted_content: value,
    },
  ];
}

function toResultItem(part: ToolResultPart, callIds: WireCallIds): Item {
  const text = toolResultText(part);
  const images = toolResultImages(part);
  const texts = text === '' ? [] : [{ type: 'input_text', text }];
  const output = images.length === 0 ? text : [...texts, ...images.map(toImagePart)];
  return { type: 'function_call_output', call_id: callIds.forResult(part.callId), output };
}
