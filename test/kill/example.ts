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

/** Runs an example as a program of its own, to its end. */
export async function startExample(file: string): Promise<ExampleEnd> {
  const program = await bundleProgram(file);
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'rerail-examples-'));
  const env = { ...process.env, TMPDIR: temporary, NODE_OPTIONS: undefined };
  try {
    const child = spawn(process.execPath, [program.file], { env, timeout: 60_000, killSignal: 'SIGKILL' });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    return { lines: out.trimEnd().split('\n'), err, exitCode, left: readdirSync(temporary) };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    await program.remove();
  }
}
