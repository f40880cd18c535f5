import type { Provenance } from '../../agent/approval/provenance.ts';
import { textOf } from '../../model/message.ts';
import { failureTraits } from '../../errors/codes.ts';
import { clean } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { RunRow, Store, StoredEvent } from '../../model/store/store.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import { noSuchRun } from '../../runtime/transfer/export-run.ts';
import { replayRun } from '../../runtime/transfer/replay-run.ts';
import type { ReplayStep } from '../../runtime/transfer/replay-run.ts';
import { at } from '../../runtime/record/run-blobs.ts';
import { provenanceIn } from '../../runtime/record/stored-run.ts';
import { nodesOf } from './read-nodes.ts';
import { addStep } from './read-steps.ts';
import { createReader } from './reader.ts';
import type { Reader } from './reader.ts';
import type { RunOrigin, RunReading } from './run-reading.ts';

/**
 * Reads a stored run: what happened, in order, each with the numbers of the events behind it. It is the machine itself that
 * replays the record, so that nothing here can disagree with what the run did. Where the record is damaged, what comes before
 * the damage is read, and `trouble` says what follows. Rejects where nothing can be read: `STORAGE_NOT_FOUND`, `STORAGE_CORRUPT` …
 *
 * @example const { items, outcome } = await readRun(store, 'order-17');
 */
export async function readRun(store: Store, runId: string): Promise<RunReading> {
  const row = await store.runs.find(runId);
  if (row === undefined) throw noSuchRun(store, runId);
  const { events, trouble: damage } = await readEvents(store, row);
  const reader = createReader(timesOf(events));
  const last = await replayInto(reader, { store, row, events });
  const trouble = last.trouble ?? damage;
  const signals = await store.runs.signals(runId);
  const origin = toOrigin(provenanceIn(events));
  return {
    row: { ...row, text: clean(row.text, maxRowText), ...cleanReason(row) },
    ...(origin === undefined ? {} : { origin }),
    asked: askedIn(events),
    models: reader.models,
    nodes: nodesOf(reader.nodes, {
      names: reader.isConducted ? reader.nodeNames : [],
      isEachOnce: reader.isEachOnce,
      hasEnded: last.step?.phase === 'ended',
    }),
    isConducted: reader.isConducted,
    items: reader.items,
    usage: last.step?.usage ?? { ...emptyLedger, toolCalls: 0, elapsedMs: 0 },
    turns: last.step?.turn ?? 0,
    phase: last.step?.phase ?? 'beginning',
    ...(last.step?.outcome === undefined ? {} : { outcome: last.step.outcome }),
    pending: signals.map(({ name, atMs }) => ({ name, atMs })),
    events: reader.sentences,
    ...(trouble === undefined ? {} : { trouble }),
  };
}

/** What a command ends with that shows it: not all of a damaged run was there to show. */
export function exitCodeOfReading({ trouble }: RunReading): number {
  return trouble === undefined ? 0 : failureTraits[trouble.code].exitCode;
}

/** For people and programs that read about a run: its texts are redacted and bounded. */
export function toOrigin(provenance: Provenance | undefined): RunOrigin | undefined {
  if (provenance === undefined || provenance.type === 'forked') return undefined;
  const { type, atMs, from, by } = provenance;
  return {
    type,
    atMs,
    ...(from === undefined ? {} : { from: clean(from, maxPlace) }),
    ...(by === undefined ? {} : { by: clean(by, maxPlace) }),
  };
}

const maxPlace = 300;
const maxRowText = 4000;
const maxAsked = 2000;

function cleanReason({ reason }: RunRow): Pick<RunRow, 'reason'> {
  return reason === undefined ? {} : { reason: clean(reason, maxRowText) };
}

interface ReadEvents {
  readonly events: readonly StoredEvent[];
  readonly trouble?: Failure;
}

/** Up to where they are whole. */
async function readEvents({ runs }: Store, { runId, headSeq }: RunRow): Promise<ReadEvents> {
  try {
    return { events: await runs.events(runId, { to: headSeq }) };
  } catch (error) {
    const seq = RerailError.isInstance(error) ? error.failure.context['seq'] : undefined;
    if (!RerailError.isInstance(error) || typeof seq !== 'number' || seq < 2) throw error;
    return { events: await runs.events(runId, { to: seq - 1 }), trouble: error.failure };
  }
}

interface Record {
  readonly store: Store;
  readonly row: RunRow;
  readonly events: readonly StoredEvent[];
}

interface Replayed {
  readonly step?: ReplayStep;
  readonly trouble?: Failure;
}

async function replayInto(reader: Reader, { store, row, events }: Record): Promise<Replayed> {
  const byNumber = new Map(events.map((event) => [event.seq, event]));
  // One reading of the record: what is written meanwhile belongs to the next one.
  const runs = {
    ...store.runs,
    find: () => Promise.resolve(row),
    events: () => Promise.resolve(events),
  };
  let last: ReplayStep | undefined;
  try {
    for await (const step of replayRun({ store: { ...store, runs }, runId: row.runId })) {
      last = step;
      const event = byNumber.get(step.seq);
      if (event !== undefined) addStep(reader, step, event);
    }
  } catch (error) {
    if (last === undefined || !RerailError.isInstance(error)) throw error;
    return { step: last, trouble: error.failure };
  }
  return last === undefined ? {} : { step: last };
}

/** When each event happened. Those of an imported run came with their own times. */
function timesOf(events: readonly StoredEvent[]): (event: Pick<StoredEvent, 'seq' | 'atMs'>) => number {
  const imported = events.findLast(({ type }) => type === 'imported');
  const times = at(imported?.body, ['atMs']);
  if (imported === undefined || !Array.isArray(times)) return ({ atMs }) => atMs;
  return ({ seq, atMs }) => {
    const own: unknown = seq < imported.seq ? times[seq - 1] : undefined;
    return typeof own === 'number' ? own : atMs;
  };
}

/** The last message that the run began with: the question. */
function askedIn([first]: readonly StoredEvent[]): string {
  const messages = at(first?.body, ['input', 'messages']);
  const content = at(Array.isArray(messages) ? messages.at(-1) : undefined, ['content']);
  if (typeof content === 'string') return clean(content, maxAsked);
  return Array.isArray(content) ? clean(textOf(content as Parameters<typeof textOf>[0]), maxAsked) : ''; // A message of ours.
}
