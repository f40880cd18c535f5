import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';

/** What stands at the place of a descriptor in the list that `spawn` takes. */
type Standard = 'ignore' | 'pipe' | number;

/**
 * Calls with the list of descriptors for a child, in which everything that this process would pass on by itself is `/dev/null`. Node
 * opens files so that no child has them, and closes for children what it was started with up to number 15; what the program that
 * started us left open above that would reach the command, and with it files outside.
 */
export function withOwnDescriptors<Result>(
  own: readonly Standard[],
  use: (all: readonly Standard[]) => Result,
): Result {
  const passedOn = passedOnDescriptors().filter((number) => number >= own.length || own[number] === 'ignore');
  if (passedOn.length === 0) return use(own);
  const nothing = openSync('/dev/null', 'r+');
  try {
    const all = Array.from(
      { length: Math.max(own.length, ...passedOn.map((number) => number + 1)) },
      (_none, number): Standard => own[number] ?? 'ignore',
    );
    for (const number of passedOn) all[number] = nothing;
    return use(all);
  } finally {
    closeSync(nothing);
  }
}

/** Descriptors from 3 on that a child would have too. Where that cannot be told apart, all that are open. */
function passedOnDescriptors(): readonly number[] {
  if (process.platform === 'win32') return [];
  const folder = process.platform === 'linux' ? '/proc/self/fd' : '/dev/fd';
  const open = readdirSync(folder).map(Number);
  return open.filter((number) => number > 2 && isPassedOn(number));
}

const closeOnExec = 0o200_0000;

function isPassedOn(number: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    const [, flags = '0'] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // It was the one by which the folder was read.
    return false;
  }
}
