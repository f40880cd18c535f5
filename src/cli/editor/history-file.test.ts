import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHistory } from './history-file.ts';

let folder = '';
let file = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rerail-history-'));
  file = path.join(folder, 'state', 'history.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('openHistory()', () => {
  it('passes over lines that are none of its own', async () => {
    file = path.join(folder, 'history.jsonl');
    await writeFile(file, '"one"\n{"no":1}\n"tw\nnot json\n"two"\n');
    const history = await openHistory(file);
    expect(history.entries()).toEqual(['one', 'two']);
  });

  it('rejects where it cannot write, and begins empty where it cannot read', async () => {
    await writeFile(path.join(folder, 'state'), 'a file where a folder should be');
    const history = await openHistory(file);
    expect(history.entries()).toEqual([]);
    await expect(history.add('hello')).rejects.toThrow(/EEXIST|ENOTDIR/);
  });

  it('keeps texts for the next time, without secrets, and for its owner only', async () => {
    const history = await openHistory(file);
    await history.add('two\nlines');
    await history.add('two\nlines');
    await history.add('use sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH please');
    const again = await openHistory(file);
    expect(again.entries()).toHaveLength(2);
    expect(again.entries()[0]).toBe('two\nlines');
    expect(await readFile(file, 'utf8')).not.toContain('sk-proj-abcdefghijklmnop');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
  });

  it('forgets the oldest after a thousand', async () => {
    file = path.join(folder, 'history.jsonl');
    const lines = Array.from({ length: 1200 }, (_, index) => `"${index}"\n`);
    await writeFile(file, lines.join(''));
    const history = await openHistory(file);
    expect(history.entries()).toHaveLength(1000);
    expect(history.entries()[0]).toBe('200');
    expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(1001);
  });
});
