import { assert } from '../../base/assert.ts';
import type { JournalEntry } from '../../runtime/record/journal.ts';
import { letterIn } from './order.ts';
import type { Kept, Letter, Notice } from './order.ts';
import { topics } from './mail.ts';
import type { Dbos, StepRow } from './sdk.ts';

/**
 * The steps of a workflow as a log. DBOS numbers them by when they began; which verb of the program one belongs to is in
 * what it gave back. So the log may hold things that the program did not ask for in this order, such as letters, and a run is
 * resumed by reading it, not by making the same steps again.
 */
export interface RunLog {
  /** By position. */
  readonly journal: readonly JournalEntry[];
  /** What was received, in this order. */
  readonly letters: readonly Letter[];
  readonly hasInherited: boolean;
  /** What was last reported of the run. */
  readonly notice: Notice;
}

/** Names of steps that are none of the program's. */
export const stepNames = {
  gap: 'rerail.gap',
  inherited: 'rerail.inherited',
  sleep: 'rerail.sleep',
  wait: 'rerail.wait',
} as const;

const received = 'DBOS.recv';
const eventSet = 'DBOS.setEvent';

/** An empty log. */
export const emptyLog: RunLog = { journal: [], letters: [], hasInherited: false, notice: {} };

/** Reads what a workflow has on record. */
export function readLog(steps: readonly StepRow[]): Omit<RunLog, 'notice'> {
  const journal = new Map<number, JournalEntry>();
  const letters: Letter[] = [];
  let hasInherited = false;
  for (const { name, output } of steps) {
    if (name === eventSet || typeof output !== 'string') continue;
    if (name === received) {
      letters.push(letterIn(output));
      continue;
    }
    const kept = JSON.parse(output) as Kept; // What we wrote.
    if (kept.type === 'gap') continue;
    if (kept.type === 'inherited') {
      hasInherited = true;
      letters.push(...kept.letters.map(letterIn));
      continue;
    }
    // What was written later about the same verb counts: a sleep begins and is over.
    journal.set(kept.position, kept);
  }
  return {
    journal: [...journal.values()].toSorted((a, b) => a.position - b.position),
    letters,
    hasInherited,
  };
}

/** A workflow that is run again numbers its steps from zero: this many at once are passed over. */
const stepsAtOnce = 50;

/** Passes over all numbers that are on record, so that the next step gets one of its own. Must be run inside the workflow. */
export async function passOver(dbos: Dbos, steps: readonly StepRow[]): Promise<void> {
  const names = new Map(steps.map(({ functionID, name }) => [functionID, name]));
  const last = Math.max(-1, ...names.keys());
  let passing: Promise<unknown>[] = [];
  for (let number = 0; number <= last; number += 1) {
    const name = names.get(number);
    passing.push(pass(dbos, name));
    // It takes a second number, for a timeout that we never have.
    if (name === received) number += 1;
    if (passing.length < stepsAtOnce && number < last) continue;
    await Promise.all(passing);
    passing = [];
  }
}

function pass(dbos: Dbos, name: string | undefined): Promise<unknown> {
  if (name === received) return dbos.recv(topics.signal, 0);
  if (name === eventSet) return dbos.setEvent('', '');
  const gap: Kept = { type: 'gap' };
  const config = { name: name ?? stepNames.gap, retriesAllowed: false } as const;
  return dbos.runStep(() => {
    assert(name === undefined, `DBOS forgot the step "${name}" that it has listed`);
    return Promise.resolve(JSON.stringify(gap));
  }, config);
}
