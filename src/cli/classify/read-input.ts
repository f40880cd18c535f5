import { printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { readProperty } from '../../errors/classify/safe-read.ts';
import type { CliIo } from '../start/io.ts';
import { quote, usageError } from '../text/usage-error.ts';

/** Where a paste comes from. */
export type InputSource =
  { readonly type: 'none' } | { readonly type: 'stdin' } | { readonly type: 'file'; readonly path: string };

/** An error answer is a few kilobytes. What is longer is a log or a download, and its beginning is enough. */
const defaultMaxBytes = 1_000_000;

const pipeHint = 'Give a file, or pipe the response in: curl -is … | rerail classify';

export interface ReadOptions {
  /** 1 MB by default. */
  readonly maxBytes?: number;
  /** What to type where it cannot be read. */
  readonly hint?: string;
}

/** Reads so many bytes at most and stops the source there. Says on stderr when something was left out. */
export async function readInput(
  source: InputSource,
  io: CliIo,
  { maxBytes = defaultMaxBytes, hint = pipeHint }: ReadOptions = {},
): Promise<string> {
  if (source.type === 'none') return '';
  const name = source.type === 'stdin' ? 'standard input' : quote(source.path);
  const noteTimer = source.type === 'stdin' ? noteWaiting(io) : undefined;
  const stopNote = (): void => clearTimeout(noteTimer);
  try {
    const chunks = source.type === 'stdin' ? io.stdin() : io.readFile(source.path);
    const { bytes, isCut } = await readBounded(chunks, { maxBytes, onFirst: stopNote });
    if (isCut)
      io.stderr.write(
        `rerail: Only the first ${maxBytes / 1_000_000} MB of ${printable(redact(name))} was read; the rest was left out.\n`,
      );
    return decode(bytes, isCut);
  } catch (error) {
    throw unreadable(name, error, hint) ?? error;
  } finally {
    stopNote();
  }
}

const noteAfterMs = 1000;

/** Someone who forgot that standard input is read would look at nothing. Only a person needs this notice. */
function noteWaiting(io: CliIo): NodeJS.Timeout | undefined {
  if (!io.isTerminal.stderr) return undefined;
  const note = 'rerail: Reading standard input; Ctrl-D ends it.\n';
  return setTimeout(() => io.stderr.write(note), noteAfterMs).unref();
}

interface Bounded {
  readonly bytes: Uint8Array;
  readonly isCut: boolean;
}

interface Bounds {
  readonly maxBytes: number;
  readonly onFirst: () => void;
}

async function readBounded(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, onFirst }: Bounds,
): Promise<Bounded> {
  const kept: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    onFirst();
    kept.push(chunk);
    length += chunk.length;
    // Leaving the loop closes the source: an endless one must not hold us.
    if (length > maxBytes) break;
  }
  return { bytes: Buffer.concat(kept).subarray(0, maxBytes), isCut: length > maxBytes };
}

/** Bytes that are no UTF-8 become U+FFFD. PowerShell writes UTF-16 with its mark. */
function decode(bytes: Uint8Array, isCut: boolean): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  // A character that the bound cut in two is dropped.
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes, { stream: isCut });
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'you may not read it',
  EPERM: 'you may not read it',
  ENOTDIR: 'a part of its path is not a directory',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its links go round in a circle',
};

/** What the system refused. Anything else is not about the input. */
function unreadable(name: string, error: unknown, hint: string): Error | undefined {
  const errno = readProperty(error, 'code');
  if (typeof errno !== 'string') return undefined;
  return usageError({
    message: `Cannot read ${name}: ${Object.hasOwn(reasons, errno) ? reasons[errno] : errno}`,
    hint,
  });
}
