import { defined } from '../../base/defined.ts';
import { chainStart, hashEvent } from '../../model/store/event-chain.ts';
import { salvageMark } from '../../model/store/proven.ts';
import type { ProvenRun, RunDamage } from '../../model/store/proven.ts';
import type { RunRow, StoredEvent } from '../../model/store/store.ts';
import type { WholeSignal } from '../../model/store/whole-run.ts';
import type { Json } from '../../base/json.ts';
import { decodeText } from './stored-text.ts';
import { hashInMark } from './text-addition.ts';

/** An event as a column holds it. */
export type KeptRow = Readonly<Record<string, unknown>>;

/** The event that follows, if this row is what was written there; else nothing. */
export function proveEvent(row: KeptRow, { runId, before, contentOf }: Proving): StoredEvent | undefined {
  const seq = (before?.seq ?? 0) + 1;
  if (Number(row['seq']) !== seq) return undefined;
  try {
    const [atMs, type] = [Number(row['at_ms']), decodeText(String(row['type']))];
    const [bodyText, hash] = [String(row['body']), String(row['hash'])];
    if (hashEvent(before?.hash ?? chainStart, { runId, seq, atMs, type, bodyText }) !== hash)
      return undefined;
    const mark = hashInMark(bodyText);
    const text = mark === undefined ? bodyText : contentOf(mark);
    return text === undefined ? undefined : { seq, atMs, type, body: JSON.parse(text) as Json, hash }; // By its hash.
  } catch {
    return undefined; // A text that no longer is one.
  }
}

export interface Proving {
  readonly runId: string;
  /** The last event that is proven. */
  readonly before: StoredEvent | undefined;
  /** A content that fits its hash. */
  readonly contentOf: (hash: string) => string | undefined;
}

/** What was found of a run. */
export interface FoundRun {
  readonly runId: string;
  /** What is listed of it, where that can be read. */
  readonly row: RunRow | undefined;
  /** The proven ones. */
  readonly events: readonly StoredEvent[];
  readonly signals: readonly WholeSignal[];
  /** Of the contents that it has, those that are there. */
  readonly blobs: readonly string[];
  readonly lostBlobs: number;
  /** How far it had come, by anything else that is left. */
  readonly knownSeq: number;
}

/** The run as it may be kept elsewhere: as it was where it is whole, else marked, so that no process continues it by accident. */
export function proveRun(found: FoundRun): ProvenRun {
  const { runId, row, events, signals, blobs } = found;
  const last = events.at(-1);
  const damage = damageOf(found);
  if (damage === undefined && row !== undefined)
    return { run: { row: defined({ ...row, owner: undefined }), events, signals, blobs } };
  if (damage === undefined || last === undefined) return damage === undefined ? {} : { damage };
  const marked: RunRow = defined({
    runId,
    agent: row?.agent ?? lostAgent,
    status: 'parked' as const,
    reason: salvageMark(damage),
    createdAtMs: row?.createdAtMs ?? events[0]?.atMs ?? last.atMs,
    updatedAtMs: last.atMs,
    headSeq: last.seq,
    headHash: last.hash,
    generationSeq: events.findLast(({ type }) => type === 'began')?.seq ?? 1,
    crashes: row?.crashes ?? 0,
    sessionId: row?.sessionId,
    text: row?.text ?? '',
    tools: row?.tools ?? [],
    turns: row?.turns ?? 0,
    costUsd: row?.costUsd,
  });
  return { run: { row: marked, events, signals, blobs }, damage };
}

/** Whose run it was is not on record any more. */
const lostAgent = '(lost)';

function damageOf({ row, events, lostBlobs, knownSeq }: FoundRun): RunDamage | undefined {
  const provenSeq = events.length;
  const known = Math.max(knownSeq, row?.headSeq ?? 0, provenSeq);
  const isOtherHead =
    row !== undefined && provenSeq === row.headSeq && (events.at(-1)?.hash ?? '') !== row.headHash;
  const reasons = [
    ...(row === undefined ? ['what is listed of it cannot be read'] : []),
    ...(provenSeq < known ? [`event ${provenSeq + 1} of at least ${known} is missing or was changed`] : []),
    ...(isOtherHead ? [`event ${provenSeq} is not the one that is listed as the last`] : []),
    ...(lostBlobs > 0 ? [`${lostBlobs} of its contents are missing or were changed`] : []),
  ];
  return reasons.length === 0 ? undefined : { provenSeq, knownSeq: known, reasons };
}
