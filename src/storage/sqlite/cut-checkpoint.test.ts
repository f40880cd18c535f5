import { copyFileSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sqlite } from './sqlite.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'rerail-checkpoint-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pageBytes = 4096;

describe('a process that is stopped while the log is taken into the file', () => {
  it('leaves a file whose first page promises more than is there, and nothing is lost', async () => {
    const [whole, cut] = [path.join(folder, 'whole.db'), path.join(folder, 'cut.db')];
    const store = sqlite(whole);
    for (let run = 0; run < 20; run += 1) {
      const events = [{ type: 'began', body: { text: 'x'.repeat(3000) } }];
      await store.runs.create({ runId: `r${run}`, agent: 'a', events, row: {} }, { id: 'o', leaseMs: 1000 });
    }
    for (const end of ['', '-wal']) copyFileSync(whole + end, cut + end);
    await store.close();
    const first = readFileSync(whole).subarray(0, pageBytes);
    const pages = first.readUInt32BE(28);
    expect(readFileSync(cut).length).toBeLessThan(pages * pageBytes);
    writeSync(openSync(cut, 'r+'), first, 0, pageBytes, 0);
    const found = sqlite(cut);
    expect((await found.check()).problems).toEqual([]);
    expect((await found.runs.list({ limit: 50 })).runs).toHaveLength(20);
    await found.close();
  });
});
