import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { NewEvent, StoredEvent, StoredSignal } from '../../model/store/store.ts';
import { readProvenance } from '../../agent/approval/provenance.ts';
import type { Provenance } from '../../agent/approval/provenance.ts';
import type { AgentFacts } from '../run/agent-facts.ts';
import type { JournalEntry, RunSnapshot } from './journal.ts';
import type { BeginningRun } from './recorder.ts';
import { at } from './run-blobs.ts';

/** What a run's record holds besides the entries of its journal. */
export type RecordedEvent =
  /** A generation begins. */
  | { readonly type: 'began'; readonly body: Began }
  /** An entry of the journal. A later one of the same position takes the place of an earlier one. */
  | { readonly type: JournalEntry['type']; readonly body: JournalEntry }
  | { readonly type: 'cancelled'; readonly body: { readonly reason: string } }
  /** It waits outside the process. */
  | {
      readonly type: 'suspended';
      readonly body: {
        readonly reason: string;
        readonly request?: Json;
        /** Of a run that came from elsewhere, so that an answer can be marked as given here. */
        readonly provenance?: Provenance;
        /** The names of tools that the run has of its own: a resume must hand them in again. */
        readonly tools?: readonly string[];
      };
    }
  | { readonly type: 'ended'; readonly body: { readonly status: string; readonly failure?: Failure } }
  /** Its owner vanished, and another one runs it on. */
  | {
      readonly type: 'taken-over';
      readonly body: {
        readonly crashes: number;
        /** So many others were in the same hands: whichever of them it was that ended the process before. */
        readonly beside?: number;
      };
    }
  /** It is resumed with other code than it was begun with. */
  | { readonly type: 'changed'; readonly body: { readonly differences: readonly string[] } }
  | { readonly type: 'parked'; readonly body: { readonly crashes: number } }
  /** Everything before it is a copy of another run, up to that event of it. Without `provenance` it was written by an older program. */
  | {
      readonly type: 'forked';
      readonly body: { readonly from: string; readonly seq: number; readonly provenance?: Provenance };
    }
  /** Everything before it came out of a bundle; the body says what the store it came from knew besides. */
  | { readonly type: 'imported'; readonly body: Json }
  /** Everything before it was copied from another store, or taken over from another backend. */
  | { readonly type: 'moved'; readonly body: { readonly provenance: Provenance } };

export interface Began extends Omit<BeginningRun, 'runId'> {
  readonly facts: AgentFacts;
}

/** As the store takes it. */
export function toEvent({ type, body }: RecordedEvent): NewEvent {
  return { type, body: body as unknown as Json }; // Every member above is JSON.
}

/** What a generation on record comes to. */
export interface FoldedRun {
  readonly snapshot: RunSnapshot;
  readonly facts: unknown;
  /** Entries since the run was last taken over: whether it got anywhere. */
  readonly entriesSinceTaken: number;
  /** When that was, or when the generation began. Milliseconds since 1970. */
  readonly takenAtMs: number;
  readonly endFailure?: Failure;
  /** So many others were carried beside it, as far as is known. */
  readonly beside: number;
  /** Where what is on record came from, if it was not written here. */
  readonly provenance?: Provenance;
}

const entryTypes: ReadonlySet<string> = new Set<JournalEntry['type']>(['call', 'sleep', 'wait']);

/** Puts a run together from the events of its current generation. The hashes were checked; the form is checked here. */
export function foldRun(
  runId: string,
  events: readonly StoredEvent[],
  signals: readonly StoredSignal[],
): FoldedRun {
  const [first] = events;
  const began = first?.type === 'began' ? first.body : undefined;
  if (!isBegan(began)) throw unreadable(runId, first, 'it does not say how the run started');
  const entries: (JournalEntry | undefined)[] = [];
  let { cancelReason } = began;
  let entriesSinceTaken = 0;
  let takenAtMs = first?.atMs ?? 0;
  let endFailure: Failure | undefined;
  let beside = 0;
  for (const event of events) {
    if (entryTypes.has(event.type)) {
      if (!isEntry(event.body)) throw unreadable(runId, event, 'it has no position');
      entries[event.body.position] = event.body;
      entriesSinceTaken += 1;
    } else if (event.type === 'cancelled') cancelReason = reasonIn(event.body);
    else if (event.type === 'taken-over') {
      entriesSinceTaken = 0;
      takenAtMs = event.atMs;
      beside = besideIn(event.body);
    } else if (event.type === 'ended') endFailure = failureIn(event.body);
  }
  const { version, generation, input, facts } = began;
  const provenance = provenanceIn(events) ?? readProvenance(at(input, ['state', 'provenance']));
  const snapshot: RunSnapshot = {
    runId,
    version,
    generation,
    input,
    journal: entries.filter((entry) => entry !== undefined),
    signals: signals.map(({ id, name, payload }) => ({ id, name, payload })),
    signalIds: [],
    ...(cancelReason === undefined ? {} : { cancelReason }),
    ...(provenance === undefined ? {} : { provenance }),
  };
  const folded = {
    snapshot,
    facts,
    entriesSinceTaken,
    takenAtMs,
    beside,
    ...(provenance === undefined ? {} : { provenance }),
  };
  return endFailure === undefined ? folded : { ...folded, endFailure };
}

/** Events that say where a record came from. Each run that came from elsewhere has one. */
export const arrivalTypes: readonly string[] = ['imported', 'moved'];

/** Where the record came from, by the last of these events that says so. What was imported by an older program names no file. */
export function provenanceIn(events: readonly StoredEvent[]): Provenance | undefined {
  const event = events.findLast(({ type, body }) => {
    if (arrivalTypes.includes(type)) return true;
    return (type === 'suspended' || type === 'forked') && at(body, ['provenance']) !== undefined;
  });
  if (event === undefined) return undefined;
  const known = readProvenance(at(event.body, ['provenance']));
  if (known !== undefined || event.type !== 'imported') return known;
  return { id: event.hash, type: 'imported', atMs: event.atMs };
}

function reasonIn(body: Json): string {
  const reason = isRecord(body) ? body['reason'] : undefined;
  return typeof reason === 'string' ? reason : 'cancellation was requested';
}

function besideIn(body: Json): number {
  const beside = isRecord(body) ? body['beside'] : undefined;
  return typeof beside === 'number' ? beside : 0;
}

function failureIn(body: Json): Failure | undefined {
  const failure = isRecord(body) ? body['failure'] : undefined;
  return isRecord(failure) ? (failure as unknown as Failure) : undefined; // Written by `finish`, and its hash was checked.
}

function isBegan(body: unknown): body is Began {
  return isRecord(body) && typeof body['generation'] === 'number' && typeof body['version'] === 'string';
}

/** Longer than any generation: a position beyond it would only be memory wasted. */
const maxPosition = 1_000_000;

function isEntry(body: unknown): body is JournalEntry {
  if (!isRecord(body)) return false;
  const { position } = body;
  return (
    typeof position === 'number' && Number.isInteger(position) && position >= 0 && position < maxPosition
  );
}

function unreadable(runId: string, event: StoredEvent | undefined, why: string): RerailError {
  const seq = event?.seq ?? 0;
  return RerailError.from(
    createFailure('STORAGE_CORRUPT', {
      origin: 'storage',
      message: `Event ${seq} of run "${runId}" cannot be read: ${why}`,
      context: { runId, seq },
    }),
  );
}
