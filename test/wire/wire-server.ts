import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Model } from '../../src/model/model.ts';
import type { ProviderOptions } from '../../src/providers/provider-options.ts';
import { providerModel } from '../model/provider-models.ts';

/** The four protocols. */
export const wires = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const;
export type WireName = (typeof wires)[number];

/** A tool call as a server writes it; `args` is raw JSON, so that it may be anything. */
export interface WireCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: string;
}

/** An answer as a server writes it. */
export interface WireAnswer {
  readonly text?: string;
  readonly calls?: readonly WireCall[];
}

/** The events of an answer: up to the finish reason, the finish reason, and what closes the stream. */
export interface Frames {
  readonly content: string;
  readonly finish: string;
  readonly close: string;
}

const quote = (value: unknown): string => JSON.stringify(value);
const data = (json: string): string => `data: ${json}\n\n`;
const named = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`;

const encoders: Readonly<Record<WireName, (answer: WireAnswer) => Frames>> = {
  'openai-chat': ({ text, calls = [] }) => {
    const chunk = (delta: string, finish = 'null'): string =>
      data(`{"id":"r1","model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}`);
    const texts = text === undefined ? '' : chunk(`{"content":${quote(text)}}`);
    const called = calls.map(({ id, name, args = '{}' }, index) =>
      chunk(
        `{"tool_calls":[{"index":${index},${id === undefined ? '' : `"id":${quote(id)},`}"type":"function","function":{"name":${quote(name)},"arguments":${quote(args)}}}]}`,
      ),
    );
    return {
      content: texts + called.join(''),
      finish: chunk('{}', calls.length > 0 ? '"tool_calls"' : '"stop"'),
      close: data('[DONE]'),
    };
  },
  'openai-responses': ({ text, calls = [] }) => {
    const items = [
      ...(text === undefined
        ? []
        : [
            `{"type":"message","id":"i0","role":"assistant","status":"completed","content":[{"type":"output_text","text":${quote(text)}}]}`,
          ]),
      ...calls.map(
        ({ id, name, args = '{}' }, index) =>
          `{"type":"function_call","id":"fc${index}",${id === undefined ? '' : `"call_id":${quote(id)},`}"name":${quote(name)},"arguments":${quote(args)},"status":"completed"}`,
      ),
    ];
    const done = items.map((item, index) =>
      data(`{"type":"response.output_item.done","output_index":${index},"item":${item}}`),
    );
    return {
      content: data('{"type":"response.created","response":{"id":"r1","model":"m"}}') + done.join(''),
      finish: data(
        `{"type":"response.completed","response":{"id":"r1","model":"m","status":"completed","output":[${items.join(',')}],"usage":{"input_tokens":3,"output_tokens":2}}}`,
      ),
      close: '',
    };
  },
  anthropic: ({ text, calls = [] }) => {
    const block = (index: number, start: string, delta: string): string =>
      named(
        'content_block_start',
        `{"type":"content_block_start","index":${index},"content_block":${start}}`,
      ) +
      named('content_block_delta', `{"type":"content_block_delta","index":${index},"delta":${delta}}`) +
      named('content_block_stop', `{"type":"content_block_stop","index":${index}}`);
    const blocks = [
      ...(text === undefined
        ? []
        : [['{"type":"text","text":""}', `{"type":"text_delta","text":${quote(text)}}`] as const]),
      ...calls.map(
        ({ id, name, args = '{}' }) =>
          [
            `{"type":"tool_use",${id === undefined ? '' : `"id":${quote(id)},`}"name":${quote(name)},"input":{}}`,
            `{"type":"input_json_delta","partial_json":${quote(args)}}`,
          ] as const,
      ),
    ];
    const reason = calls.length > 0 ? 'tool_use' : 'end_turn';
    return {
      content:
        named(
          'message_start',
          '{"type":"message_start","message":{"id":"r1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}',
        ) + blocks.map(([start, delta], index) => block(index, start, delta)).join(''),
      finish: named(
        'message_delta',
        `{"type":"message_delta","delta":{"stop_reason":"${reason}"},"usage":{"output_tokens":2}}`,
      ),
      close: named('message_stop', '{"type":"message_stop"}'),
    };
  },
  gemini: ({ text, calls = [] }) => {
    const answer = (parts: string, finish = ''): string =>
      data(
        `{"candidates":[{"index":0,"content":{"role":"model","parts":[${parts}]}${finish}}],"responseId":"r1","modelVersion":"m"}`,
      );
    const parts = [
      ...(text === undefined ? [] : [`{"text":${quote(text)}}`]),
      ...calls.map(
        ({ id, name, args = '{}' }) =>
          `{"functionCall":{${id === undefined ? '' : `"id":${quote(id)},`}"name":${quote(name)},"args":${args}}}`,
      ),
    ];
    return {
      content: parts.map((part) => answer(part)).join(''),
      finish: answer('', ',"finishReason":"STOP"'),
      close: '',
    };
  },
};

/** The events of an answer on a wire. */
export function framesOf(wire: WireName, answer: WireAnswer): Frames {
  return encoders[wire](answer);
}

/** All of them. */
export function wholeOf(wire: WireName, answer: WireAnswer): string {
  const { content, finish, close } = framesOf(wire, answer);
  return content + finish + close;
}

/** One request as it came. */
export interface WireRequest {
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** From 0. */
  readonly index: number;
  readonly socket: IncomingMessage['socket'];
}

/** A model whose server is the test. */
export interface WireScene {
  readonly model: Model;
  readonly server: Server;
  readonly requests: readonly WireRequest[];
}

type Answer = WireAnswer | ((request: WireRequest, response: ServerResponse) => void);

/** Starts a server that answers with one answer after the other, the last one again and again, and makes a model of it. */
export async function startWire(
  wire: WireName,
  answers: readonly Answer[],
  options: ProviderOptions = {},
): Promise<WireScene> {
  const requests: WireRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (bytes: Buffer) => chunks.push(bytes));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const body = JSON.parse(text) as WireRequest['body']; // What we send.
      const request: WireRequest = { text, body, index: requests.length, socket: incoming.socket };
      requests.push(request);
      const answer = answers[Math.min(request.index, answers.length - 1)];
      if (typeof answer === 'function') return answer(request, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(wholeOf(wire, answer ?? {}));
      return undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    model: providerModel(wire, { baseURL: `http://127.0.0.1:${port}/v1`, ...options }),
    server,
    requests,
  };
}

/** Begins a stream and leaves it open. */
export function beginStream(response: ServerResponse, bytes: string | Buffer): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(bytes);
}

type Fields = Readonly<Record<string, unknown>>;

/** The names and ids of all calls and results in a request, in the order of the conversation. */
export function callsIn(
  wire: WireName,
  { body }: WireRequest,
): {
  readonly names: readonly string[];
  readonly calls: readonly string[];
  readonly results: readonly string[];
} {
  const names: string[] = [];
  const calls: string[] = [];
  const results: string[] = [];
  const addCall = (name: unknown, id: unknown): void => {
    names.push(String(name));
    calls.push(String(id));
  };
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const fields = value as Fields;
    const { type, role, function: called, functionCall, functionResponse } = fields;
    if (wire === 'openai-chat' && called !== undefined) addCall((called as Fields)['name'], fields['id']);
    if (role === 'tool') results.push(String(fields['tool_call_id']));
    if (type === 'function_call') addCall(fields['name'], fields['call_id']);
    if (type === 'function_call_output') results.push(String(fields['call_id']));
    if (type === 'tool_use') addCall(fields['name'], fields['id']);
    if (type === 'tool_result') results.push(String(fields['tool_use_id']));
    if (functionCall !== undefined) addCall((functionCall as Fields)['name'], (functionCall as Fields)['id']);
    if (functionResponse !== undefined) {
      names.push(String((functionResponse as Fields)['name']));
      results.push(String((functionResponse as Fields)['id']));
    }
    for (const inner of Object.values(fields)) visit(inner);
  };
  visit(body['messages'] ?? body['input'] ?? body['contents']);
  return { names, calls, results };
}
