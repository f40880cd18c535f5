import type { CliIo } from '../start/io.ts';
import { readInput } from '../classify/read-input.ts';

/** Whatever may be in the longest bundle that is read, as bytes. */
const maxBundleBytes = 300_000_000;

/** The text of a bundle: a file, or standard input for "-". */
export function readBundleText(name: string, io: CliIo, hint: string): Promise<string> {
  const source = name === '-' ? ({ type: 'stdin' } as const) : ({ type: 'file', path: name } as const);
  return readInput(source, io, { maxBytes: maxBundleBytes, hint });
}
