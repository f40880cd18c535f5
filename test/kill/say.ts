import { writeSync } from 'node:fs';
import type { Said } from './life.ts';

/** Says a line at once: whoever is killed right after has said it. */
export function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`);
}

/** The one argument that a program is started with. */
export function readGiven(): unknown {
  return JSON.parse(process.argv[2] ?? '{}');
}
