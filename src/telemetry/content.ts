import type { Json } from '../base/json.ts';
import { boundAndFreeze, toPlainJson } from '../base/plain-json.ts';
import { redactJson } from '../base/redact.ts';
import { clean } from '../errors/failure.ts';
import { partsOf, textOf } from '../model/message.ts';
import type { Message } from '../model/message.ts';

const bounds = {
  maxDepth: 12,
  maxMembers: 500,
  maxTextLength: 4000,
  maxTotalLength: 32_000,
  // A text that needs no cut is redacted with the rest below.
  boundText: (text: string) => (text.length <= 4000 ? text : clean(text, 4000)),
} as const;

/** What people, models and tools said, as JSON text: redacted, bounded, and still JSON. */
export function contentText(value: unknown): string {
  return JSON.stringify(boundAndFreeze(redactJson(toPlainJson(value, bounds)), bounds));
}

/** Messages in the form of the conventions: roles with parts. Bytes of images and files are left out. */
export function messagesText(messages: readonly Message[]): string {
  return contentText(
    messages.map(({ role, content }) => ({ role, parts: partsOf<Part>(content).map(partOf) })),
  );
}

type Part = Exclude<Message['content'], string>[number];

function partOf(part: Part): Json {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: part.text };
    case 'tool-call':
      return { type: 'tool_call', id: part.callId, name: part.name, arguments: part.argumentsText };
    case 'tool-result':
      return { type: 'tool_call_response', id: part.callId, response: textOf(partsOf(part.content)) };
    default:
      return { type: part.type, mime_type: part.mediaType };
  }
}
