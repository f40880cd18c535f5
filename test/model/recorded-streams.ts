import { Buffer } from 'node:buffer';
import type { ChaosProtocol, ChaosServer, FaultEntry } from '../../src/chaos/index.ts';
import type { ModelResponse } from '../../src/model/model.ts';
import type { StreamPart } from '../../src/model/stream-part.ts';
import type { Transport } from '../../src/providers/http/transport.ts';
import { providerModel } from './provider-models.ts';

/** What the chaos server is asked to say, and how it shall be spelled. */
export interface Scenario {
  readonly name: string;
  /** The last words of the user, by which the server chooses its answer. */
  readonly question: string;
  readonly fault?: FaultEntry;
}

/** A stream as it came over the wire, byte for byte. */
export interface Recording {
  readonly protocol: ChaosProtocol;
  readonly name: string;
  readonly bytes: Buffer;
}

const tool = { name: 'look_up', parameters: { type: 'object', properties: { city: { type: 'string' } } } };

/** Asks a running chaos server through our own request, and keeps every byte of the answer. */
export async function recordStream(
  server: ChaosServer,
  protocol: ChaosProtocol,
  { name, question, fault }: Scenario,
): Promise<Recording> {
  server.setFaults(fault === undefined ? undefined : { script: [fault] });
  let bytes = Buffer.alloc(0);
  // Without the signal: where an answer is bad the reader stops, and the recording must go on to its end.
  const fetch: typeof globalThis.fetch = async (input, { signal: _signal, ...init } = {}) => {
    const response = await globalThis.fetch(input, init);
    bytes = Buffer.from(await response.arrayBuffer());
    return new Response(bytes, response);
  };
  const model = providerModel(protocol, { baseURL: server.baseURL(protocol), fetch });
  await model.call({ messages: [{ role: 'user', content: question }], tools: [tool] });
  if (bytes.length === 0) throw new Error(`Nothing came for ${name}`);
  return { protocol, name, bytes };
}

/** What became of an answer: every part in its order, and the verdict. */
export interface Replayed {
  readonly parts: readonly StreamPart[];
  readonly response: ModelResponse;
}

/** How a body ends after its chunks: properly, or with a connection that is lost. */
export type BodyEnd = 'proper' | 'lost';

/** Plays one answer after the other. */
export type Replay = (chunks: Iterable<Uint8Array>, end?: BodyEnd) => Promise<Replayed>;

/** Plays chunks to the provider itself, over a transport without a socket. */
export function createReplay(protocol: ChaosProtocol): Replay {
  let next = bodyOf([], 'proper');
  const transport: Transport = {
    send: (_request, { onConnected }) => {
      onConnected();
      const headers = { 'content-type': 'text/event-stream' };
      return Promise.resolve({ status: 200, headers, body: next, discard: () => undefined });
    },
  };
  const model = providerModel(protocol, { baseURL: 'http://127.0.0.1:9', transport });
  return async (chunks, end = 'proper') => {
    const parts: StreamPart[] = [];
    next = bodyOf(chunks, end);
    const onPart = (part: StreamPart): void => void parts.push(part);
    const response = await model.call({ messages: [{ role: 'user', content: 'Hello' }] }, { onPart });
    return { parts, response };
  };
}

async function* bodyOf(chunks: Iterable<Uint8Array>, end: BodyEnd): AsyncGenerator<Uint8Array> {
  yield* chunks;
  if (end === 'lost') throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

/** Cuts bytes at the given offsets, in any order and any number. */
export function cutAt(bytes: Buffer, offsets: readonly number[]): readonly Buffer[] {
  const places = [...new Set([0, ...offsets, bytes.length])].toSorted((one, other) => one - other);
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
}

/** What announces the end of an answer, as the provider documents it. */
const terminalMarks: Readonly<Record<ChaosProtocol, string>> = {
  'openai-chat': '"finish_reason":"',
  'openai-responses': '"type":"response.completed"',
  anthropic: '"type":"message_stop"',
  gemini: '"finishReason":"',
};

/** Where the event that announces the end is complete: just behind the line end that makes its blank line. */
export function terminalEnd({ protocol, bytes }: Recording): number {
  const mark = bytes.indexOf(terminalMarks[protocol]);
  if (mark === -1) throw new Error(`The ${protocol} stream announces no end`);
  const text = bytes.toString('latin1', mark); // One character a byte, so that places are offsets.
  const blank = /\n\n|\r\n\r|\r\r/.exec(text);
  if (blank === null) throw new Error(`The last event of ${protocol} is not complete`);
  return mark + blank.index + blank[0].length;
}
