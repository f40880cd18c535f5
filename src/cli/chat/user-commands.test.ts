import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fillCommand, readUserCommands } from './user-commands.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rerail-commands-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('readUserCommands()', () => {
  it('passes over what is no command, and says so', async () => {
    await writeFile(path.join(folder, 'no good.md'), 'x');
    await writeFile(path.join(folder, 'huge.md'), 'x'.repeat(70_000));
    await mkdir(path.join(folder, 'folder.md'));
    const { commands, problems } = await readUserCommands([folder, path.join(folder, 'missing')]);
    expect(commands).toEqual([]);
    expect(problems).toEqual([
      expect.stringMatching(/folder\.md cannot be read: EISDIR/),
      expect.stringMatching(/huge\.md is no command: it has 70000 bytes/),
      expect.stringMatching(/no good\.md is no command: its name must be/),
    ]);
  });

  it('reads the description of the front matter, else the first line; the first folder counts', async () => {
    const [first, second] = [path.join(folder, 'first'), path.join(folder, 'second')];
    await mkdir(first);
    await mkdir(second);
    await writeFile(
      path.join(first, 'review.md'),
      '\ufeff---\r\ndescription: "Look at it"\r\n---\r\nReview $ARGUMENTS.\r\n',
    );
    await writeFile(path.join(second, 'review.md'), 'another');
    await writeFile(path.join(second, 'tests.md'), '# Run the tests\nand mend them');
    const { commands, problems } = await readUserCommands([first, second]);
    expect(problems).toEqual([]);
    expect(commands).toMatchObject([
      { name: 'review', description: 'Look at it', body: 'Review $ARGUMENTS.' },
      { name: 'tests', description: 'Run the tests' },
    ]);
  });

  it.each([
    { body: 'Review $ARGUMENTS, all of $ARGUMENTS', given: '$& it', message: 'Review $& it, all of $& it' },
    { body: 'Review.', given: 'the tests', message: 'Review.\n\nthe tests' },
    { body: 'Review.', given: '', message: 'Review.' },
  ])('makes a message of $body', ({ body, given, message }) => {
    expect(fillCommand({ name: 'x', description: '', file: 'x.md', body }, given)).toBe(message);
  });
});
