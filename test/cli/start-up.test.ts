import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine } from './command-line.ts';

const execute = promisify(execFile);
let commandLine: CommandLine;

beforeAll(async () => {
  commandLine = await buildCommandLine();
});
afterAll(() => commandLine.remove());

describe('rerail --help', () => {
  it('loads nothing but what it shows', async () => {
    const loaded = await closureOf(commandLine.main);
    const characters = [...loaded.values()].reduce((sum, text) => sum + text.length, 0);
    // Four files of specs, layout and the parser: a model, a store or the table of failures would be far more.
    expect(characters).toBeLessThan(120_000);
    const packages = [...loaded.values()].flatMap((text) =>
      [...text.matchAll(/^import [^;]*from "([^."][^"]*)";$/gm)].map(([, name]) => name ?? ''),
    );
    expect(packages.filter((name) => !name.startsWith('node:'))).toEqual([]);
  });

  it('takes at most twice the processor time of an empty program', async () => {
    const [empty, help]: [number[], number[]] = [[], []];
    for (let round = 0; round < 7; round += 1) {
      empty.push(await cpuOf(['-e', '0']));
      help.push(await cpuOf([commandLine.main, '--help']));
    }
    // Others at work make both slower at times, and nothing makes either quicker than it is.
    expect(Math.min(...help) / Math.min(...empty)).toBeLessThan(2);
  });
});

/** The texts of a module and of all that it imports before it runs. */
async function closureOf(main: string): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  const waiting = [main];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (texts.has(file)) continue;
    const text = await readFile(file, 'utf8');
    texts.set(file, text);
    for (const [, relative = ''] of text.matchAll(/^import (?:[^;"]*from )?"(\.[^"]+)";$/gm))
      waiting.push(path.resolve(path.dirname(file), relative));
  }
  return texts;
}

const tellCpu =
  'data:text/javascript,process.on("exit",()=>{const{user,system}=process.cpuUsage();console.error(user+system)})';

async function cpuOf(given: readonly string[]): Promise<number> {
  const { stderr } = await execute(process.execPath, ['--import', tellCpu, ...given]);
  return Number(stderr.trim().split('\n').at(-1));
}
