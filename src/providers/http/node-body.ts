import type { Readable } from 'node:stream';
import { faultError, tooLargeFault } from './transport-fault.ts';

/** The bytes of a response that a Node stream brings. */
export interface NodeBody {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly discard: () => void | Promise<void>;
}

interface NodeBodyOptions {
  readonly maxBytes: number;
  /** Whether all bytes have arrived, so that the end is only a matter of reading. */
  readonly isComplete?: () => boolean;
  /** Looks at the size so far, and gives an error where it is suspicious. */
  readonly inspect?: (bytes: number) => Error | undefined;
}

// What is left of a body is read for this long and this far, so that its connection can be used again.
const maxDrainMs = 250;
const maxDrainBytes = 64 * 1024;

/** `ended`: nothing more will arrive, but what had may still be there to be read. */
type Mode = 'reading' | 'ended' | 'draining' | 'refused';

type Result = IteratorResult<Uint8Array>;

/** What is known of a body. It changes in place. */
interface Held {
  readonly stream: Readable;
  readonly options: NodeBodyOptions;
  mode: Mode;
  failure: { readonly error: unknown } | undefined;
  bytes: number;
  /** Who waits for the next chunk. */
  reader: { readonly give: (result: Result) => void; readonly fail: (error: unknown) => void } | undefined;
}

/**
 * Reads a stream when it is asked to, and takes all that has arrived at once: a stream of many small chunks costs little
 * more than one large. An error is told behind the bytes that had arrived before it: where the end of the answer was among
 * them, it is none.
 */
export function createNodeBody(stream: Readable, options: NodeBodyOptions): NodeBody {
  const held: Held = { stream, options, mode: 'reading', failure: undefined, bytes: 0, reader: undefined };
  stream.on('readable', () => tell(held));
  stream.on('end', () => stop(held, undefined));
  stream.on('error', (error) => stop(held, { error }));
  stream.on('close', () => {
    const isOrderly = stream.readableEnded || held.mode === 'draining';
    stop(held, isOrderly ? undefined : { error: prematureClose() });
  });
  return {
    chunks: { [Symbol.asyncIterator]: () => ({ next: () => next(held), return: () => leave(held) }) },
    discard: () => discard(held),
  };
}

function stop(held: Held, failure: Held['failure']): void {
  if (held.mode === 'reading') held.mode = 'ended';
  held.failure ??= failure;
  tell(held);
}

/** One promise for each chunk, however often the stream wakes us before it is there. */
function next(held: Held): Promise<Result> {
  return new Promise((give, fail) => {
    held.reader = { give, fail };
    tell(held);
  });
}

/** Looks whether there is something for whoever waits. When the stream ends, fails or is closed there is, and one of these always comes. */
function tell(held: Held): void {
  const { reader } = held;
  if (reader === undefined) return;
  try {
    const result = look(held);
    if (result === undefined) return;
    held.reader = undefined;
    reader.give(result);
  } catch (error) {
    held.reader = undefined;
    reader.fail(error);
  }
}

const over: Result = { done: true, value: undefined };

/** What can be told now; nothing where it is still to come. */
function look(held: Held): Result | undefined {
  const { mode, stream } = held;
  const chunk = mode === 'reading' || mode === 'ended' ? readChunk(stream) : undefined;
  if (chunk !== undefined) return take(held, chunk);
  if (held.failure !== undefined) throw held.failure.error;
  return held.mode === 'reading' ? undefined : over;
}

function take(held: Held, chunk: Uint8Array): Result {
  const { maxBytes, inspect } = held.options;
  held.bytes += chunk.length;
  const error =
    held.bytes > maxBytes
      ? faultError(tooLargeFault('The body of the answer', maxBytes))
      : inspect?.(held.bytes);
  if (error === undefined) return { done: false, value: chunk };
  held.mode = 'refused';
  held.failure ??= { error };
  held.stream.destroy();
  throw error;
}

function discard(held: Held): void | Promise<void> {
  if (held.mode !== 'reading') return undefined;
  held.mode = 'draining';
  tell(held);
  return held.options.isComplete?.() === true ? readRest(held.stream) : drain(held.stream);
}

function leave(held: Held): Promise<Result> {
  const released = discard(held);
  return released === undefined ? Promise.resolve(over) : released.then(() => over);
}

/** All is here, so that reading it makes the end come in this very tick. */
function readRest(stream: Readable): Promise<void> {
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  while (readChunk(stream) !== undefined);
  return closed;
}

/** Reads on for a moment, so that the connection can be used again; where the body goes on and on, gives it up. */
function drain(stream: Readable): void {
  let bytes = 0;
  const timer = setTimeout(() => stream.destroy(), maxDrainMs).unref();
  const onReadable = (): void => {
    for (let chunk = readChunk(stream); chunk !== undefined; chunk = readChunk(stream)) bytes += chunk.length;
    if (bytes > maxDrainBytes) stream.destroy();
  };
  stream.on('readable', onReadable);
  stream.once('close', () => clearTimeout(timer));
  onReadable();
}

function readChunk(stream: Readable): Uint8Array | undefined {
  return (stream.read() as Uint8Array | null) ?? undefined; // Without an encoding a byte stream gives bytes.
}

function prematureClose(): Error {
  const error = new Error('The connection was closed while the answer was read');
  return Object.assign(error, { code: 'ERR_STREAM_PREMATURE_CLOSE' });
}
