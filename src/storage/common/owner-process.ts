import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';
import { lazy } from '../../base/lazy.ts';

/**
 * This process, so that another one can tell later whether it is still there: boot of the machine, space of process numbers,
 * number, and when it was started, for numbers are used again.
 */
export const ownProcess: () => string = lazy(() => {
  const start = readStart('self');
  return [placeOfProcesses(), process.pid, start.type === 'started' ? start.at : unknownStart].join(' ');
});

/**
 * Whether a process is known to be dead. One on another machine, of another boot or in another container is not known to be:
 * its lease has to run out. One that is only stopped is alive.
 */
export function isKnownDead(ownerProcess: string): boolean {
  const [place, pid, start] = ownerProcess.split(' ');
  if (pid === undefined || start === undefined || place !== placeOfProcesses()) return false;
  if (Number(pid) === process.pid) return ownerProcess !== ownProcess();
  if (start === unknownStart) return isGone(Number(pid));
  const found = readStart(pid);
  return found.type === 'gone' || (found.type === 'started' && found.at !== start);
}

const unknownStart = '-';

/** Where process numbers mean the same. */
const placeOfProcesses = lazy((): string => {
  const boot = readOrUndefined(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const space = readOrUndefined(() => readlinkSync('/proc/self/ns/pid'));
  if (boot === undefined || space === undefined) return `host:${encodeURIComponent(os.hostname())}`;
  return `boot:${boot}:${space}`;
});

type Start = { readonly type: 'started'; readonly at: string } | { readonly type: 'gone' | 'unknown' };

/** When a process was started, in ticks since the boot; it is gone also where only its number is left. */
function readStart(pid: string): Start {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program is in brackets and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, at] = [fields[0], fields[startField]];
    if (state === 'Z' || state === 'X') return { type: 'gone' };
    return at === undefined ? { type: 'unknown' } : { type: 'started', at };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    return { type: code === 'ENOENT' || code === 'ESRCH' ? 'gone' : 'unknown' };
  }
}

/** Counted from the state, which is the third of all. */
const startField = 19;

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

function readOrUndefined(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    // Only some systems have it, and the caller has another way.
    return undefined;
  }
}
