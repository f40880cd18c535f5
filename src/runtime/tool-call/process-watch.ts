import { systemProcess } from '../../base/system.ts';
import type { ProcessState } from '../../base/system.ts';

// Tools that run in this process share its working directory, environment and file mode mask. What one of them changes affects
// the next one: it is noticed and reported, not undone, for another tool or the program may rely on it by now.

/** A call while it runs. */
export interface Suspect {
  readonly tool: string;
  /** What changed while it ran, and the tools that ran since the last look. Must not throw. */
  readonly onChanged: (changes: readonly string[], tools: readonly string[]) => void;
}

export interface ProcessWatch {
  /** Watches while a call runs. The returned function says that it has ended. */
  readonly begin: (suspect: Suspect) => () => void;
}

/** What the watch needs of the process. */
export interface ProcessPort {
  readonly read: () => ProcessState;
  readonly nowMs: () => number;
  /** Without keeping the process alive. */
  readonly after: (delayMs: number, callback: () => void) => void;
}

/** To look costs as much as several turns: a busy process spends one part in fifty of its time on it. */
const share = 50;
/** So many looks without a pause: each call of an ordinary run is looked at by itself. */
const maxBurst = 20;
const maxSuspects = 50;

/** Looks at the process after each call, or after several where they come faster than the looks can be afforded. */
function createProcessWatch({ read, nowMs, after }: ProcessPort): ProcessWatch {
  let known: ProcessState | undefined;
  let looks = maxBurst;
  let costMs = 1;
  let gainedAtMs = nowMs();
  let isPlanned = false;
  let suspects = new Set<Suspect>();
  const running = new Set<Suspect>();

  function canLook(): boolean {
    const gained = Math.floor((nowMs() - gainedAtMs) / (share * costMs));
    if (gained > 0) {
      looks = Math.min(maxBurst, looks + gained);
      gainedAtMs = nowMs();
    }
    if (looks > 0) looks -= 1;
    else if (!isPlanned) plan();
    return !isPlanned;
  }

  function plan(): void {
    isPlanned = true;
    after(share * costMs, () => {
      isPlanned = false;
      look();
    });
  }

  function look(): void {
    const startMs = nowMs();
    const before = known;
    known = read();
    costMs = Math.max(0.01, nowMs() - startMs);
    const changes = before === undefined ? [] : changesOf(before, known);
    const ran = [...suspects];
    suspects = new Set(running);
    if (changes.length === 0) return;
    const tools = [...new Set(ran.map(({ tool }) => tool))];
    for (const { onChanged } of ran) onChanged(changes, tools);
  }

  return {
    begin: (suspect) => {
      known ??= read();
      running.add(suspect);
      if (suspects.size < maxSuspects) suspects.add(suspect);
      return () => {
        running.delete(suspect);
        if (canLook()) look();
      };
    },
  };
}

/** Of this process. */
export const processWatch = createProcessWatch(systemProcess);

const maxNames = 10;

/** In words; of the environment only names, for values may be secrets. */
function changesOf(before: ProcessState, after: ProcessState): readonly string[] {
  const changes: string[] = [];
  if (before.cwd !== after.cwd) changes.push(`the working directory from "${before.cwd}" to "${after.cwd}"`);
  if (before.umask !== after.umask)
    changes.push(`the umask from ${before.umask ?? 'unknown'} to ${after.umask ?? 'unknown'}`);
  const names = changedNames(before.env, after.env);
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  if (names.length > 0) changes.push(`the environment (${names.slice(0, maxNames).join(', ')}${more})`);
  return changes;
}

function changedNames(before: ProcessState['env'], after: ProcessState['env']): readonly string[] {
  const names: string[] = [];
  for (const [name, value] of after) if (before.get(name) !== value) names.push(name);
  for (const name of before.keys()) if (!after.has(name)) names.push(name);
  return names;
}
