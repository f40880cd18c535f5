import type { Generation } from './generation.ts';
import type { JournalPage } from './messages.ts';

/** Of one answer, about: Temporal takes no more than 2 MB. */
const maxPageChars = 500_000;

/** From here on everything is given, the input too. */
export const fromTheBeginning = -1;

/** What is on record of this generation from one entry on, as much as fits into one answer. Only the first part may be without any. */
export function journalPage(generation: Generation, from: number): JournalPage {
  const { begin, entries, inbox, begun } = generation;
  const { version, generation: number, input } = begin;
  const isFirst = from === fromTheBeginning;
  const start = isFirst ? 0 : from;
  const taken: JournalPage['entries'][number][] = [];
  let chars = isFirst ? JSON.stringify(input).length : 0;
  for (const { entry } of entries.slice(start)) {
    chars += JSON.stringify(entry).length;
    if (chars > maxPageChars && (isFirst || taken.length > 0)) break;
    taken.push(entry);
  }
  const next = start + taken.length;
  const isLast = next >= entries.length;
  return {
    version,
    generation: number,
    ...(isFirst ? { input } : {}),
    entries: taken,
    begun: isLast ? [...begun.values()] : [],
    signals: isLast ? inbox.all() : [],
    signalIds: isLast ? inbox.ids() : [],
    ...(isLast ? {} : { next }),
  };
}
