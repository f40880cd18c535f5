import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bundleProgram } from '../kill/program.ts';
import type { EscapeOrder } from './escape-program.ts';

/** A number that nobody has, so that it shares neither files nor processes with anybody. */
export const ordinaryUser = 64_123;

/** A bundled program where everybody may read it. */
export interface SharedProgram {
  readonly file: string;
  readonly remove: () => void;
}

/** Bundles a program to a place where another user can start it. */
export async function shareProgram(entry: string): Promise<SharedProgram> {
  const bundled = await bundleProgram(entry);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-program-'));
  chmodSync(folder, 0o755);
  const file = path.join(folder, 'program.mjs');
  copyFileSync(bundled.file, file);
  await bundled.remove();
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Starts it as a user, under a prefix where there is one. */
export function startProgram(
  file: string,
  order: EscapeOrder,
  { uid, prefix = [] }: { readonly uid: number; readonly prefix?: readonly string[] },
): ChildProcess {
  const [command, ...rest] = [...prefix, process.execPath, file, JSON.stringify(order)];
  return spawn(command, rest, {
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: os.tmpdir() },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === process.getuid?.() ? {} : { uid, gid: uid }),
  });
}
