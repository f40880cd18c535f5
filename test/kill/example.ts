import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bundleProgram } from './program.ts';

/** What somebody sees who runs an example. */
export interface ExampleEnd {
  readonly lines: readonly string[];
  readonly err: string;
  readonly exitCode: number | null;
  /** What it has left in the folder for temporary files. */
  readonly left: readonly string[];
}

/** Runs an example as a program of its own, to its end; so often, in the same folder, one after the other. */
export async function startAgain(file: string, times: number): Promise<readonly ExampleEnd[]> {
  const program = await bundleProgram(file);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-examples-'));
  try {
    const ends: ExampleEnd[] = [];
    for (let count = 0; count < times; count += 1) ends.push(await start(program.file, folder));
    return ends;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await program.remove();
  }
}

/** Runs an example as a program of its own, to its end. */
export async function startExample(file: string): Promise<ExampleEnd> {
  const program = await bundleProgram(file);
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'rerail-examples-'));
  try {
    return await start(program.file, temporary);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    await program.remove();
  }
}

async function start(program: string, folder: string): Promise<ExampleEnd> {
  const env = { ...process.env, TMPDIR: folder, NODE_OPTIONS: undefined };
  const child = spawn(process.execPath, [program], {
    env,
    cwd: folder,
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { lines: out.trimEnd().split('\n'), err, exitCode, left: readdirSync(folder) };
}
