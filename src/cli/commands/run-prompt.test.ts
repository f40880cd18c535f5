import { describe, expect, it } from 'vitest';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { CliIo } from '../start/io.ts';
import { readPrompt } from './run-prompt.ts';

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

function world(given: Partial<CliIo> = {}): { readonly io: CliIo; readonly err: string[] } {
  const err: string[] = [];
  const io: CliIo = {
    stdout: { write: () => undefined },
    stderr: { write: (text) => err.push(text) },
    stdin: () => pieces(),
    readFile: () => pieces(),
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: 80,
    env: {},
    now: () => 0,
    folder: '/somewhere',
    home: '/home/someone',
    terminal: undefined,
    command: 'rerail',
    version: '0.0.0',
    ...given,
  };
  return { io, err };
}

const noFlags = { flags: {} };

describe('readPrompt()', () => {
  it.each([
    { name: 'nothing at all', args: [] },
    { name: 'blanks', args: [['  ']] },
    { name: 'an empty pipe', args: [['-']] },
  ])('refuses $name, and says what to type', async ({ args }) => {
    await expect(readPrompt({ args, ...noFlags }, world().io)).rejects.toMatchObject({
      failure: { code: 'CONFIG_ERROR', hint: expect.stringContaining('rerail run "') as string },
    });
  });

  it('says which file cannot be read', async () => {
    const { io } = world({
      async *readFile() {
        yield* pieces();
        throw Object.assign(new Error('no'), { code: 'ENOENT' });
      },
    });
    await expect(readPrompt({ args: [], flags: { file: 'task.md' } }, io)).rejects.toMatchObject({
      failure: { message: 'Cannot read "task.md": there is no such file' },
    });
  });

  it('continues without a pipe that never gets input, and says so', async () => {
    const clock = simulatedClock();
    const isReturned: boolean[] = [];
    const never: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => undefined),
        return: async () => {
          isReturned.push(true);
          return { done: true, value: undefined };
        },
      }),
    };
    const { io, err } = world({ stdin: () => never });
    const prompt = readPrompt({ args: [['do', 'it']], ...noFlags }, io, clock);
    await clock.advance(3000);
    expect(await prompt).toBe('do it');
    expect(err.join('')).toContain('Nothing came on standard input within 3 s');
    expect(isReturned).toEqual([true]);
  });

  it('puts words, file and standard input together, in this order', async () => {
    const { io } = world({
      stdin: () => pieces('from ', 'the pipe\n'),
      readFile: () => pieces('from the file\n'),
    });
    expect(await readPrompt({ args: [['some', 'words']], flags: { file: 'task.md' } }, io)).toBe(
      'some words\n\nfrom the file\n\nfrom the pipe',
    );
  });

  it('does not wait for a keyboard where there are words', async () => {
    const { io } = world({
      isTerminal: { stdin: true, stdout: true, stderr: true },
      stdin: () => {
        throw new Error('It must not be opened');
      },
    });
    expect(await readPrompt({ args: [['hello']], ...noFlags }, io)).toBe('hello');
  });

  it('reads the pipe alone where nothing else is given', async () => {
    expect(await readPrompt({ args: [], ...noFlags }, world({ stdin: () => pieces('all of it') }).io)).toBe(
      'all of it',
    );
  });
});
