import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { RerailError } from '../../src/errors/rerail-error.ts';
import { readBounded, useInside } from '../../src/tools/workspace/confine.ts';
import { walkInside } from '../../src/tools/workspace/search/walk.ts';
import { writeFileTool } from '../../src/tools/workspace/write-file.ts';
import { call, canary, temporaryWorkspace } from './temporary-workspace.ts';
import type { TemporaryWorkspace } from './temporary-workspace.ts';

const raceMs = 1500;
const longestMs = 30_000;
const { signal } = new AbortController();
const ending: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** A neighbour that puts a link to outside in the place of something inside and back, as fast as it can. */
const flipLink = `
  const fs = require('node:fs');
  const [name, inside, outside] = process.argv.slice(1);
  console.log('ready');
  for (;;) for (const target of [outside, inside]) {
    fs.symlinkSync(target, name + '.next');
    fs.renameSync(name + '.next', name);
  }`;

/** The same for a real folder, which is moved aside. */
const swapFolder = `
  const fs = require('node:fs');
  const [name, , outside] = process.argv.slice(1);
  fs.symlinkSync(outside, name + '.link');
  console.log('ready');
  const attempt = (act) => {
    try {
      act();
      return true;
    } catch {
      return false;
    }
  };
  // Whoever found nothing there may have made it anew meanwhile.
  const move = (from, to) => {
    for (let tries = 0; tries < 1000 && !attempt(() => fs.renameSync(from, to)); tries += 1) {
      attempt(() => fs.rmSync(to, { recursive: true, force: true }));
    }
  };
  for (;;) {
    move(name, name + '.aside');
    move(name + '.link', name);
    move(name, name + '.link');
    move(name + '.aside', name);
  }`;

async function startNeighbour(script: string, ...names: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', script, ...names], { stdio: ['ignore', 'pipe', 'inherit'] });
  ending.push(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await once(child.stdout, 'data');
  return child;
}

async function given(files: Readonly<Record<string, string>>): Promise<TemporaryWorkspace> {
  const made = await temporaryWorkspace(files);
  ending.push(made.remove);
  return made;
}

interface Tally {
  good: number;
  refused: number;
  readonly escaped: string[];
}

interface Least {
  readonly minGood: number;
  readonly minRefused: number;
}

/** Does something again and again for a while, and counts what came of it. */
async function repeat(
  { minGood, minRefused }: Least,
  work: (round: number) => Promise<string>,
): Promise<Tally> {
  const tally: Tally = { good: 0, refused: 0, escaped: [] };
  const startMs = Date.now();
  const isShort = (): boolean => tally.good < minGood || tally.refused < minRefused;
  // Longer on a machine that is busy with something else, but not for ever.
  const endMs = (): number => startMs + (isShort() ? longestMs : raceMs);
  for (let round = 0; Date.now() < endMs(); round += 1) {
    const result = await work(round).catch((error: unknown) => {
      if (!RerailError.isInstance(error)) throw error;
      return undefined;
    });
    if (result === undefined) tally.refused += 1;
    else if (result === 'good') tally.good += 1;
    else tally.escaped.push(result);
  }
  return tally;
}

describe('while a neighbour swaps names as fast as it can', () => {
  it.each([
    {
      what: 'a link to a file',
      script: flipLink,
      name: 'flip',
      read: 'flip',
      inside: 'real.txt',
      outside: '../secret.txt',
    },
    {
      what: 'a link to a folder',
      script: flipLink,
      name: 'flip',
      read: 'flip/f',
      inside: 'real',
      outside: '../ws-evil',
    },
    {
      what: 'a folder itself',
      script: swapFolder,
      name: 'real',
      read: 'real/f',
      inside: '',
      outside: '../ws-evil',
    },
  ])('reading never escapes through $what', async ({ script, name, read, inside, outside }) => {
    const { workspace, at } = await given({ 'real.txt': 'good', 'real/f': 'good' });
    await startNeighbour(script, at(name), inside, outside);
    const tally = await repeat({ minGood: 201, minRefused: 1 }, () =>
      useInside(workspace, { path: read, kind: 'file' }, async (file) =>
        String((await readBounded(file, 100, signal)).bytes),
      ),
    );
    expect(tally.escaped).toEqual([]);
    expect(tally.good).toBeGreaterThan(200);
    expect(tally.refused).toBeGreaterThan(0);
  });

  it.each([
    { what: 'a link to a folder', script: flipLink, name: 'flip', inside: 'real' },
    { what: 'a folder itself', script: swapFolder, name: 'real', inside: '' },
  ])('writing and making folders never land outside through $what', async ({ script, name, inside }) => {
    const { workspace, at, outside } = await given({ 'real/f': 'good' });
    const writeFile = writeFileTool(workspace);
    await startNeighbour(script, at(name), inside, '../ws-evil');
    const tally = await repeat({ minGood: 21, minRefused: 1 }, async (round) => {
      const folder = round % 2 === 0 ? name : `${name}/deep-${round}`;
      await call(writeFile, { path: `${folder}/new-${round}.txt`, content: 'written' });
      return 'good';
    });
    expect(tally.good).toBeGreaterThan(20);
    expect(tally.refused).toBeGreaterThan(0);
    expect(readdirSync(path.join(outside, 'ws-evil'))).toEqual(['f']);
    expect(readFileSync(path.join(outside, 'ws-evil', 'f'), 'utf8')).toBe(canary);
  });

  it('a walk never leaves', async () => {
    const { workspace, at, outside } = await given({ 'real/f': 'good' });
    mkdirSync(path.join(outside, 'ws-evil', 'deep'));
    writeFileSync(path.join(outside, 'ws-evil', 'deep', 'outer.txt'), canary);
    await startNeighbour(swapFolder, at('real'), '', '../ws-evil');
    const tally = await repeat({ minGood: 21, minRefused: 0 }, async () => {
      const names: string[] = [];
      await walkInside(workspace, '.', {
        signal,
        maxEntries: 100,
        maxDepth: 5,
        onEntry: ({ path: name }) => void names.push(name),
      });
      return names.find((name) => /outer|deep/.test(name)) ?? 'good';
    });
    expect(tally.escaped).toEqual([]);
    expect(tally.good).toBeGreaterThan(20);
  });
});
