import { readFileSync, readdirSync } from 'node:fs';
import type { Launch } from './launch.ts';

/** Asks a command to end. Where it is contained, its wrapper is passed by: that one would take everything down at once. */
export function endGently(pid: number, { isContained }: Pick<Launch, 'isContained'>): void {
  if (!isContained) return signalGroup(pid, 'SIGTERM');
  // The first process of the namespace leads the group, and does not hear what is sent from outside.
  for (const first of childrenOf(pid)) signalGroup(first, 'SIGTERM');
  return undefined;
}

/** Ends a process and all of its group. */
export function endAll(pid: number): void {
  signalGroup(pid, 'SIGKILL');
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // There is nobody left in it, which is what was wanted.
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // It has ended meanwhile, or the kernel keeps no such list: then everybody is asked for his parent.
    return processes().filter((other) => parentOf(other) === pid);
  }
}

function processes(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The fourth word of what the kernel says, counted from behind the name, which may hold anything. */
function parentOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}
