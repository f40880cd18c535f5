import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, closeSync, copyFileSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bundleProgram } from '../kill/program.ts';
import type { EscapeOrder } from './escape-program.ts';

/** A number that nobody has, so that it shares neither files nor processes with anybody. */
export const ordinaryUser = 64_123;

/** Descriptors that the program is started with besides the usual three: below and above what Node closes by itself. */
export const inheritedNumbers = [5, 20, 200, 1000] as const;

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

/** Starts it as a user, under a prefix where there is one. The file `inherited` of its order is open for it under several numbers. */
export function startProgram(
  file: string,
  order: EscapeOrder,
  { uid, prefix = [] }: { readonly uid: number; readonly prefix?: readonly string[] },
): ChildProcess {
  const [command, ...rest] = [...prefix, process.execPath, file, JSON.stringify(order)];
  writeFileSync(order.inherited, '');
  chmodSync(order.inherited, 0o666);
  const descriptor = openSync(order.inherited, 'r+');
  const inherited: readonly number[] = inheritedNumbers;
  try {
    return spawn(command, rest, {
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '', TMPDIR: os.tmpdir() },
      stdio: [
        'ignore',
        'pipe',
        'pipe',
        ...Array.from({ length: Math.max(...inherited) - 2 }, (_none, index) =>
          inherited.includes(index + 3) ? descriptor : ('ignore' as const),
        ),
      ],
      ...(uid === process.getuid?.() ? {} : { uid, gid: uid }),
    });
  } finally {
    closeSync(descriptor);
  }
}
