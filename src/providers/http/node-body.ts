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

/**
 * Reads a stream when it is asked to, and takes all that has arrived at once: a stream of many small chunks costs little
 * more than one large. An error is told behind the bytes that had arrived before it: where the end of the answer was among
 * them, it is none.
 */
export function createNodeBody(stream: Readable, { maxBytes, ...options }: NodeBodyOptions): NodeBody {
  let mode: Mode = 'reading';
  let wake: (() => void) | undefined;
  let failure: { readonly error: unknown } | undefined;
  let bytes = 0;

  function stop(error?: unknown): void {
    if (mode === 'reading') mode = 'ended';
    failure ??= error === undefined ? undefined : { error };
    wake?.();
  }

  function take(chunk: Uint8Array): IteratorResult<Uint8Array> {
    bytes += chunk.length;
    const error =
      bytes > maxBytes
        ? faultError(tooLargeFault('The body of the answer', maxBytes))
        : options.inspect?.(bytes);
    if (error === undefined) return { done: false, value: chunk };
    mode = 'refused';
    failure ??= { error };
    stream.destroy();
    throw error;
  }

  async function next(): Promise<IteratorResult<Uint8Array>> {
    // Ends when the stream ends, fails or is closed: one of these always comes.
    for (;;) {
      const chunk = mode === 'reading' || mode === 'ended' ? readChunk(stream) : undefined;
      if (chunk !== undefined) return take(chunk);
      if (failure !== undefined) throw failure.error;
      if (mode !== 'reading') return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  function discard(): void | Promise<void> {
    if (mode !== 'reading') return undefined;
    mode = 'draining';
    wake?.();
    return options.isComplete?.() === true ? readRest(stream) : drain(stream);
  }

  stream.on('readable', () => wake?.());
  stream.on('end', () => stop());
  stream.on('error', stop);
  stream.on('close', () => stop(stream.readableEnded || mode === 'draining' ? undefined : prematureClose()));
  const done = async (): Promise<IteratorResult<Uint8Array>> => {
    await discard();
    return { done: true, value: undefined };
  };
  return { chunks: { [Symbol.asyncIterator]: () => ({ next, return: done }) }, discard };
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
