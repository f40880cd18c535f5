import { isRecord } from '../../base/json.ts';

// What a record says was written by the process that ran it, unless the record came from somewhere else: then its author is unknown, and
// nothing in it is a right. Calls and answers of a run that came from elsewhere are marked with where it came from when they are made here;
// the mark holds an id that was drawn after everything before it had been written, so that no record can bring it along.

/** Where the record of a run came from, up to the moment at which it was taken in. */
export interface Provenance {
  /** Drawn when the record was taken in: what is marked with it happened afterwards. */
  readonly id: string;
  /** `imported`: out of a bundle. `copied`: from another store. `taken-over`: handed to `agent.takeOver`. `forked`: a fork of a run of this store. */
  readonly type: 'imported' | 'copied' | 'taken-over' | 'forked';
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** The file or the store, as far as it is known. */
  readonly from?: string;
  /** The account that took it in, as far as it is known. */
  readonly by?: string;
}

/** Whether something was recorded before the run came here: nothing that it claims is a right. */
export function isForeign(
  provenance: Provenance | undefined,
  marked: { readonly provenance?: Provenance },
): boolean {
  return provenance !== undefined && marked.provenance?.id !== provenance.id;
}

/** Where a run came from, in a sentence for the person who decides about one of its calls. */
export function provenanceText({ type, from, by, atMs }: Omit<Provenance, 'id'>): string {
  const place = from === undefined ? '' : ` from ${from}`;
  const person = by === undefined ? '' : ` by ${by}`;
  const moment = `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `the run was ${typeWords[type]}${place} on ${moment}${person}`;
}

const typeWords = {
  imported: 'imported',
  copied: 'copied',
  'taken-over': 'taken over',
  forked: 'forked',
} as const satisfies Record<Provenance['type'], string>;

/** Reads where a run came from as an event of this program holds it. */
export function readProvenance(value: unknown): Provenance | undefined {
  if (!isRecord(value)) return undefined;
  const { id, type, atMs, from, by } = value;
  if (typeof id !== 'string' || typeof atMs !== 'number' || !(Math.abs(atMs) <= latestMs)) return undefined;
  const known = types.find((one) => one === type);
  if (known === undefined) return undefined;
  return {
    id,
    type: known,
    atMs,
    ...(typeof from === 'string' ? { from } : {}),
    ...(typeof by === 'string' ? { by } : {}),
  };
}

const types = ['imported', 'copied', 'taken-over', 'forked'] as const satisfies readonly Provenance['type'][];
const latestMs = 8_640_000_000_000_000;
