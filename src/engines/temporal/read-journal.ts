import type { Json } from '../../base/json.ts';
import type { JournalEntry, RunEnd, RunSnapshot } from '../../runtime/record/journal.ts';
import { fromTheBeginning } from './journal-page.ts';
import type { JournalPage } from './messages.ts';

/** All parts of a journal together. */
export interface WholeJournal extends Omit<JournalPage, 'next' | 'input'> {
  readonly input: Json;
}

/** Far more than a history can hold: each part but the first has an entry. */
const maxPages = 100_000;

/** Asks for a journal part by part. What was given once does not change any more, so the last part is the time of all. */
export async function readJournal(ask: (from: number) => Promise<JournalPage>): Promise<WholeJournal> {
  const first = await ask(fromTheBeginning);
  const entries = [...first.entries];
  let last = first;
  for (let pages = 1; last.next !== undefined && pages < maxPages; pages += 1) {
    last = await ask(last.next);
    entries.push(...last.entries);
  }
  const { input = null } = first;
  const { version, generation, begun, signals, signalIds } = last;
  return { version, generation, input, entries, begun, signals, signalIds };
}

/** The same in the port's own form. */
export function snapshotOf(runId: string, journal: WholeJournal, end: RunEnd | undefined): RunSnapshot {
  const { version, generation, input, entries, begun, signals, signalIds } = journal;
  const steps: readonly JournalEntry[] = [
    ...entries.flatMap((entry) => (entry.type === 'cancelled' ? [] : [entry])),
    ...begun,
  ];
  const cancelled = entries.find((entry) => entry.type === 'cancelled');
  return {
    runId,
    version,
    generation,
    input,
    journal: steps.toSorted((one, other) => one.position - other.position),
    signals,
    signalIds,
    ...(cancelled === undefined ? {} : { cancelReason: cancelled.reason }),
    ...(end === undefined ? {} : { end }),
  };
}
