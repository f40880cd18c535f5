import { provenanceText } from '../../agent/approval/provenance.ts';
import { printable } from '../../base/printable.ts';
import { latest } from './run-reading.ts';
import type { RunOrigin, RunReading } from './run-reading.ts';
import type { WhyPoint } from './why-answers.ts';

/** Where the record came from, and what that means for approvals. Nothing where it was written here. */
export function originPoints({ origin, items, events }: RunReading): readonly WhyPoint[] {
  if (origin === undefined) return [];
  const arrival = latest(items, 'imported');
  const fork = latest(items, 'forked');
  const isFork = fork !== undefined && (arrival?.seqs[0] ?? 0) < (fork.seqs[0] ?? 0);
  const copy = isFork ? [{ text: forkText(fork), seqs: fork.seqs }] : [];
  const seqs = arrival?.seqs ?? events.slice(-1).map(({ seq }) => seq);
  return [{ text: `${originText(origin)}. ${rightsText[origin.type]}`, seqs }, ...copy];
}

function forkText({ from, seq }: { readonly from: string; readonly seq: number }): string {
  return `It is a fork of run ${printable(from)} at event ${seq}, and the same holds for it.`;
}

/** One sentence without its full stop. */
export function originText(origin: RunOrigin): string {
  const text = printable(provenanceText(origin));
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

const again = 'A call that needs approval is asked about again.';

const rightsText = {
  imported:
    'Nothing in its record counts as approved here: every call without a result is asked about before it starts.',
  copied: `No approval or answer in its record counts here. ${again}`,
  'taken-over': `No approval or answer in its record counts here. ${again}`,
} as const satisfies Record<RunOrigin['type'], string>;

/** The mark in a list of runs. */
export const originMarks = {
  imported: 'imported',
  copied: 'copied',
  'taken-over': 'taken over',
} as const satisfies Record<RunOrigin['type'], string>;
