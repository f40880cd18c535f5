import { isRecord, type Json } from '../../base/json.ts';
import { partsOf } from '../../model/message.ts';
import type { AssistantPart, Message, ToolResultPart } from '../../model/message.ts';
import type { ToolDefinition } from '../../model/request.ts';
import type { MindRequest } from '../../providers/simulated/mind.ts';
import { fieldsOf, listOf, textField, textOr } from './fields.ts';
import type { Fields } from './fields.ts';
import { readWishes } from './read-wishes.ts';
import type { ChaosProtocol } from './wire-answer.ts';

/** What a request says, as far as a simulated mind looks at it. Reads leniently and never throws. */
export function readMindRequest(protocol: ChaosProtocol, body: Fields): MindRequest {
  const { messages, tools } = readers[protocol](body);
  return { messages: withNames(joinAnswers(messages)), tools, ...readWishes(protocol, body) };
}

interface Told {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
}

const readers = {
  'openai-chat': (body) => ({
    messages: listOf(body, 'messages').flatMap(chatMessage),
    tools: listOf(body, 'tools').flatMap((tool) => toolOf(fieldsOf(tool, 'function'), 'parameters')),
  }),
  'openai-responses': (body) => ({
    messages: [...systemOf(textField(body, 'instructions')), ...responsesInput(body).flatMap(responsesItem)],
    tools: listOf(body, 'tools').flatMap((tool) => toolOf(tool, 'parameters')),
  }),
  anthropic: (body) => ({
    messages: [
      ...systemOf(contentText(body['system'])),
      ...listOf(body, 'messages').flatMap((message) => anthropicMessage(message)),
    ],
    tools: listOf(body, 'tools').flatMap((tool) => toolOf(tool, 'input_schema')),
  }),
  gemini: (body) => ({
    messages: [
      ...systemOf(contentText(fieldsOf(body, 'systemInstruction')['parts'])),
      ...listOf(body, 'contents').flatMap((content) => geminiContent(content)),
    ],
    tools: listOf(body, 'tools')
      .flatMap((tool) => listOf(tool, 'functionDeclarations'))
      .flatMap((tool) =>
        toolOf(tool, 'parametersJsonSchema' in tool ? 'parametersJsonSchema' : 'parameters'),
      ),
  }),
} as const satisfies Record<ChaosProtocol, (body: Fields) => Told>;

/** Responses sends every call as an item of its own; together they are one answer. */
function joinAnswers(messages: readonly Message[]): readonly Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'assistant' && last?.role === 'assistant') {
      const content = [...partsOf(last.content), ...partsOf(message.content)];
      joined.splice(-1, 1, { role: 'assistant', content });
    } else joined.push(message);
  }
  return joined;
}

/** Most protocols name a result by its call only. */
function withNames(messages: readonly Message[]): readonly Message[] {
  const parts = messages.flatMap((message) => (message.role === 'assistant' ? partsOf(message.content) : []));
  const names = new Map(
    parts.flatMap((part) => (part.type === 'tool-call' ? [[part.callId, part.name]] : [])),
  );
  return messages.map((message) => {
    if (message.role !== 'tool') return message;
    const content = message.content.map((part) => ({ ...part, name: names.get(part.callId) ?? part.name }));
    return { role: 'tool', content };
  });
}

function chatMessage(message: Fields): readonly Message[] {
  const text = contentText(message['content']);
  switch (message['role']) {
    case 'system':
    case 'developer':
      return systemOf(text);
    case 'assistant':
      return [
        assistant(
          text,
          listOf(message, 'tool_calls').map((call) => {
            const { name, arguments: argumentsText } = fieldsOf(call, 'function');
            return callPart({ callId: call['id'], name, argumentsText });
          }),
        ),
      ];
    case 'tool':
      return [toolMessage([resultPart(message['tool_call_id'], message['content'])])];
    default:
      return [{ role: 'user', content: text }];
  }
}

function responsesInput(body: Fields): readonly Fields[] {
  const { input } = body;
  return typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(body, 'input');
}

function responsesItem(item: Fields): readonly Message[] {
  if (item['type'] === 'function_call') {
    const { call_id: callId, name, arguments: argumentsText } = item;
    return [assistant('', [callPart({ callId, name, argumentsText })])];
  }
  if (item['type'] === 'function_call_output') {
    return [toolMessage([resultPart(item['call_id'], item['output'])])];
  }
  return item['type'] === 'reasoning' ? [] : chatMessage(item);
}

function anthropicMessage(message: Fields): readonly Message[] {
  const content = typeof message['content'] === 'string' ? [] : listOf(message, 'content');
  const text = contentText(message['content']);
  if (message['role'] === 'assistant') {
    const calls = content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id: callId, name, input }) => callPart({ callId, name, argumentsText: JSON.stringify(input) }));
    return [assistant(text, calls)];
  }
  const results = content
    .filter(({ type }) => type === 'tool_result')
    .map((block) => resultPart(block['tool_use_id'], block['content'], block['is_error'] === true));
  return [
    ...(results.length === 0 ? [] : [toolMessage(results)]),
    ...(text === '' && results.length > 0 ? [] : [{ role: 'user', content: text } as const]),
  ];
}

function geminiContent(content: Fields): readonly Message[] {
  const parts = listOf(content, 'parts');
  const text = contentText(parts.filter((part) => part['thought'] !== true));
  const calls = parts.filter((part) => isRecord(part['functionCall']));
  const results = parts.filter((part) => isRecord(part['functionResponse']));
  if (content['role'] === 'model') {
    return [
      assistant(
        text,
        calls.map((part) => {
          const { id: callId, name, args } = fieldsOf(part, 'functionCall');
          return callPart({ callId: callId ?? name, name, argumentsText: JSON.stringify(args ?? {}) });
        }),
      ),
    ];
  }
  const resultParts = results.map((part) => {
    const { id, name, response } = fieldsOf(part, 'functionResponse');
    return { ...resultPart(id ?? name, unwrapped(response)), name: textOr(name) };
  });
  return [
    ...(resultParts.length === 0 ? [] : [toolMessage(resultParts)]),
    ...(text === '' && resultParts.length > 0 ? [] : [{ role: 'user', content: text } as const]),
  ];
}

/** A result that is no object is sent inside one. */
function unwrapped(response: unknown): unknown {
  return isRecord(response) && Object.keys(response).length === 1 && 'result' in response
    ? response['result']
    : response;
}

function systemOf(text: string): readonly Message[] {
  return text === '' ? [] : [{ role: 'system', content: text }];
}

function assistant(text: string, calls: readonly AssistantPart[]): Message {
  const prose: readonly AssistantPart[] = text === '' ? [] : [{ type: 'text', text }];
  return { role: 'assistant', content: [...prose, ...calls] };
}

function toolMessage(content: readonly ToolResultPart[]): Message {
  return { role: 'tool', content };
}

function callPart(call: {
  readonly callId: unknown;
  readonly name: unknown;
  readonly argumentsText: unknown;
}): AssistantPart {
  const { callId, name, argumentsText } = call;
  return {
    type: 'tool-call',
    callId: textOr(callId),
    name: textOr(name),
    argumentsText: textOr(argumentsText),
  };
}

function resultPart(callId: unknown, content: unknown, isError = false): ToolResultPart {
  const text = contentText(content);
  return {
    type: 'tool-result',
    callId: textOr(callId),
    name: '',
    content: text === '' && isRecord(content) ? JSON.stringify(content) : text,
    ...(isError ? { isError } : {}),
  };
}

function toolOf(tool: Fields, schemaField: string): readonly ToolDefinition[] {
  const name = textField(tool, 'name');
  if (name === '') return []; // A tool that the provider runs itself, such as web search.
  // It came from JSON, and the mind reads it as such.
  return [
    {
      name,
      description: textField(tool, 'description'),
      parameters: fieldsOf(tool, schemaField),
    },
  ];
}

/** Content is a text, or a list of blocks of which some are text. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as readonly Json[])
    .map((block) => (isRecord(block) && typeof block['text'] === 'string' ? block['text'] : ''))
    .join('');
}
