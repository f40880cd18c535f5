import type { Clock } from '../../base/clock.ts';
import { systemClock } from '../../base/system.ts';
import type { Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { readInput } from '../classify/read-input.ts';
import { usageError } from '../text/usage-error.ts';

const maxBytes = 1_000_000;
/** Some parents leave a pipe open and never write to it. Where there are words, it is not waited for longer. */
const stdinPatienceMs = 3000;

/** What the agent is asked: words, a file and standard input, one after the other. Throws a usage error where there is nothing. */
export async function readPrompt(
  { args, flags }: Given,
  io: CliIo,
  clock: Clock = systemClock,
): Promise<string> {
  const words = wordsOf(args[0]);
  const isDash = words === '-';
  const file = typeof flags['file'] === 'string' ? flags['file'] : undefined;
  const given = isDash ? '' : words;
  const fromFile =
    file === undefined
      ? ''
      : await readInput({ type: 'file', path: file }, io, { maxBytes, hint: 'Type: --file task.md' });
  const fromStdin = await readStdin(io, {
    clock,
    isNeeded: isDash || (given === '' && file === undefined),
    isDash,
  });
  const prompt = [given, fromFile, fromStdin]
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n\n');
  if (prompt !== '') return prompt;
  throw usageError({
    message: 'There is nothing to do: no words, and nothing in the file or on standard input',
    hint: 'Type: rerail run "The tests fail. Find out why and fix it."',
  });
}

function wordsOf(argument: Given['args'][number]): string {
  if (argument === undefined) return '';
  return typeof argument === 'string' ? argument : argument.join(' ');
}

interface Wanting {
  readonly clock: Clock;
  /** There is nothing else to go by. */
  readonly isNeeded: boolean;
  readonly isDash: boolean;
}

async function readStdin(io: CliIo, { clock, isNeeded, isDash }: Wanting): Promise<string> {
  if (io.isTerminal.stdin && !isDash) return '';
  const hint = 'Pipe something in, or give words: rerail run "…"';
  if (isNeeded) return readInput({ type: 'stdin' }, io, { maxBytes, hint });
  const source = io.stdin()[Symbol.asyncIterator]();
  const first = source.next();
  const isThere = await arrives(first, clock);
  if (!isThere) {
    io.stderr.write(
      `rerail: Nothing came on standard input within ${stdinPatienceMs / 1000} s; continuing without it. Type < /dev/null to say that nothing will.\n`,
    );
    first.catch(() => undefined); // Its result is no longer needed.
    void source.return?.();
    return '';
  }
  return readInput({ type: 'stdin' }, { ...io, stdin: () => resumed(first, source) }, { maxBytes, hint });
}

async function arrives(first: Promise<unknown>, clock: Clock): Promise<boolean> {
  const waiting = new Promise<false>((resolve) => {
    const cancel = clock.after(stdinPatienceMs, () => resolve(false));
    void first.then(cancel, cancel);
  });
  // The reader reports what goes wrong while reading.
  const came = first.then(
    () => true,
    () => true,
  );
  return Promise.race([came, waiting]);
}

async function* resumed(
  first: Promise<IteratorResult<Uint8Array>>,
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = await first; next.done !== true; next = await source.next()) yield next.value;
  } finally {
    await source.return?.();
  }
}
