import { Buffer } from 'node:buffer';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../base/system.ts';
import { startSearcher } from './searcher.ts';
import type { Searcher } from './searcher.ts';

const started: Searcher[] = [];

function start(source: string, flags = ''): Searcher {
  const { signal } = new AbortController();
  const options = { contextLines: 1, maxLineCharacters: 20, clock: systemClock, signal };
  const searcher = startSearcher({ source, flags }, options);
  started.push(searcher);
  return searcher;
}

const file = (text: string): { readonly path: string; readonly bytes: Buffer } => ({
  path: 'a.txt',
  bytes: Buffer.from(text),
});
const bounds = { room: 10, maxMs: 30_000 };

afterEach(async () => {
  await Promise.all(started.splice(0).map(({ stop }) => stop()));
});

describe('startSearcher()', () => {
  it('fails the search, and each one after it, where its thread breaks', async () => {
    const searcher = start('(');
    const failure = { code: 'TOOL_EXECUTION_ERROR' };
    await expect(searcher.search([file('a')], bounds)).rejects.toMatchObject(failure);
    await expect(searcher.search([file('a')], bounds)).rejects.toMatchObject(failure);
  });

  it('fails the search where it is stopped meanwhile', async () => {
    const searcher = start('(a+)+$');
    const searching = searcher.search([file(`${'a'.repeat(50)}!`)], bounds);
    const [outcome] = await Promise.allSettled([searching, searcher.stop()]);
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'TOOL_EXECUTION_ERROR' } });
  });

  it('counts what there is no room for', async () => {
    const found = await start('a').search([file('a\na\na\n'), file('b'), file('')], { ...bounds, room: 1 });
    expect(found).toMatchObject({
      matches: 3,
      files: [{ index: 0, lines: [{ number: 1 }, { number: 2, isMatch: false }] }],
    });
  });

  it('is through with a million lines', async () => {
    const found = await start('^last$').search([file(`${'\n'.repeat(1_000_000)}last`)], bounds);
    expect(found.files[0]?.lines.at(-1)).toEqual({ number: 1_000_001, text: 'last', isMatch: true });
  });

  it('never cuts a character in two', async () => {
    const found = await start('x').search([file(`${'😀'.repeat(30)}x${'😀'.repeat(30)}`)], bounds);
    expect(found.files[0]?.lines[0]?.text).toMatch(/^…(�?)😀+x😀+(�?)…$/u);
  });
});
