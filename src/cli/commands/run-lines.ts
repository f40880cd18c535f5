import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { CliIo } from '../start/io.ts';

/** Typed lines, where there is no keyboard to be read key by key. */
export interface LineReader {
  /** The next line; nothing when there are no more, or when the signal says so. */
  readonly readLine: (signal: AbortSignal) => Promise<string | undefined>;
  /** There are no more: the input has ended. */
  readonly isOver: () => boolean;
  /** Releases standard input, which would keep the process waiting. */
  readonly close: () => void;
}

const maxLineCharacters = 10_000;

/** Opens standard input when the first line is asked for, and not before. */
export function createLineReader({ stdin }: Pick<CliIo, 'stdin'>): LineReader {
  const held: Held = {
    stdin,
    input: undefined,
    source: undefined,
    pending: undefined,
    decoder: new StringDecoder('utf8'),
    text: '',
    isOver: false,
  };
  return {
    readLine: (signal) => readLine(held, signal),
    isOver: () => held.isOver,
    close: () => close(held),
  };
}

interface Held {
  readonly stdin: CliIo['stdin'];
  input: AsyncIterable<Uint8Array> | undefined;
  source: AsyncIterator<Uint8Array> | undefined;
  /** Its reader has gone: the next one takes it. */
  pending: Promise<IteratorResult<Uint8Array>> | undefined;
  readonly decoder: StringDecoder;
  text: string;
  isOver: boolean;
}

async function readLine(held: Held, signal: AbortSignal): Promise<string | undefined> {
  held.input ??= held.stdin();
  held.source ??= held.input[Symbol.asyncIterator]();
  while (!held.text.includes('\n') && held.text.length < maxLineCharacters) {
    held.pending ??= held.source.next();
    const next = await orAborted(held.pending, signal);
    if (next === undefined) return undefined;
    held.pending = undefined;
    held.isOver = next.done === true;
    if (next.done === true) return undefined;
    held.text += held.decoder.write(Buffer.from(next.value));
  }
  const [line = ''] = held.text.split('\n', 1);
  held.text = held.text.slice(line.length + 1);
  return line;
}

function close({ pending, source, input }: Held): void {
  if (pending === undefined) return void source?.return?.();
  pending.catch(() => undefined); // Its result is no longer needed.
  // An iterator that waits for a key cannot be stopped, and a stream can.
  (input as Partial<Readable> | undefined)?.destroy?.();
}

async function orAborted<Value>(wanted: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  if (signal.aborted) return undefined;
  const { promise, resolve } = withResolvers<undefined>();
  const stop = (): void => resolve(undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([wanted, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Node 20 has no `Promise.withResolvers`. */
function withResolvers<Value>(): {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
} {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
