import { StringDecoder } from 'node:string_decoder';
import type { CliIo } from '../start/io.ts';
import type { Chat, ChatFace } from './chat.ts';
import { submit } from './submit.ts';

/** A terminal that can only print lines: what is typed comes as lines, and the output is plain lines. */
export interface LinePrompt {
  readonly face: ChatFace;
  /** The next line; nothing when there are no more, or when the signal says so. */
  readonly readLine: (signal: AbortSignal) => Promise<string | undefined>;
  /** Reads and sends lines until the chat ends or there are no more. */
  readonly converse: (chat: Chat) => Promise<void>;
}

export function createLinePrompt(io: CliIo): LinePrompt {
  const lines = readLines(io.stdin());
  const reader: Reader = { lines, pending: undefined };
  const ended = new AbortController();
  return {
    face: {
      say: (text) => void io.stdout.write(`${text}\n`),
      echo: () => undefined, // The terminal has shown it while it was typed.
      refresh: () => undefined,
      close: () => {
        ended.abort();
        // A terminal that is still read keeps the process alive.
        if (reader.pending === undefined) void lines.return(undefined);
      },
    },
    readLine: (signal) => nextLine(reader, signal),
    converse: async (chat) => {
      while (!ended.signal.aborted && chat.state.type !== 'ended') {
        // Bounded by the person: each round waits for a line.
        io.stdout.write('> ');
        const line = await nextLine(reader, ended.signal);
        if (line === undefined) return chat.end(0);
        await submit(chat, line);
      }
    },
  };
}

interface Reader {
  readonly lines: AsyncIterator<string>;
  /** A line that arrived and was not read yet. */
  pending: Promise<IteratorResult<string>> | undefined;
}

async function nextLine(reader: Reader, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  const pending = (reader.pending ??= reader.lines.next());
  const found = await new Promise<IteratorResult<string> | undefined>((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
    void pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
  // A line that came too late for its question belongs to the next one.
  if (found === undefined) return undefined;
  reader.pending = undefined;
  return found.done === true ? undefined : found.value;
}

// A line that never ends is given out in pieces.
const maxLineCharacters = 100_000;

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.write(Buffer.from(chunk));
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.replace(/\r$/, '');
    if (rest.length > maxLineCharacters) {
      yield rest;
      rest = '';
    }
  }
  if (rest !== '') yield rest;
}
