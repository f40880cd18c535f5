import { outcomeOf } from '../../agent/outcome.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import type { RunOutcome, RunUsage } from '../../agent/run-outcome.ts';
import type { Phase, RunState } from '../../agent/state.ts';
import type { Json } from '../../base/json.ts';
import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { showValue } from '../../model/check/show-value.ts';
import type { BlobStore, Store, StoredEvent } from '../../model/store/store.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import type { DriveInput } from '../drive.ts';
import { noSuchRun } from './export-run.ts';
import { readInput } from '../record/kept-input.ts';
import type { JournalEntry } from '../record/journal.ts';
import { readBundle } from './read-bundle.ts';
import { configIn, createReplayParts } from './replay-parts.ts';
import { createReplayStage } from './replay-stage.ts';
import type { ReplayStage } from './replay-stage.ts';
import { describeEvent } from './replay-words.ts';
import { at } from '../record/run-blobs.ts';
import { generationsOf } from '../record/run-generations.ts';
import { foldRun } from '../record/stored-run.ts';
import { checkOptions } from '../../model/check/check-options.ts';

/** Where a run is on record. */
export type ReplaySource = { readonly store: Store; readonly runId: string } | { readonly bundle: string };

export interface ReplayOptions {
  /** The last event that is replayed; all by default. */
  readonly to?: number;
}

/** One event of the record, and what it made of the run. */
export interface ReplayStep {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly generation: number;
  readonly type: string;
  /** What happened, in a sentence. */
  readonly text: string;
  /** What the machine emitted because of it. Events of models and tools while they worked are not on record. */
  readonly events: readonly RunEvent[];
  /** What the run is doing after it. `beginning`: hooks are asked about its input. */
  readonly phase: Phase['type'] | 'beginning';
  readonly turn: number;
  /** So far. */
  readonly usage: RunUsage;
  /** What the run has come to, where it has ended or waits outside. */
  readonly outcome?: RunOutcome;
}

/**
 * Replays a run from its record, event by event: by the same driver and the same machine, without model, tools, hooks or the
 * agent's code, and without writing anything. The last step has the outcome that the run itself gave. Rejects with `INVALID_STATE`
 * where this program would have done something else than the record says, and with a `STORAGE_…` code where it cannot be read.
 *
 * @example for await (const { seq, text } of replayRun({ store, runId: 'order-17' })) console.log(seq, text);
 */
export async function* replayRun(
  source: ReplaySource,
  options: ReplayOptions = {},
): AsyncGenerator<ReplayStep, void, undefined> {
  checkOptions({ of: 'replayRun()', rules: ['to'] }, options);
  const { to = Infinity } = options;
  if (typeof to !== 'number' || !(to >= 1))
    throw configError(`"to" is the number of an event, from 1, got ${showValue(to)}`);
  const record = await readRecord(source);
  for (const generation of generationsOf(record.events)) {
    if ((generation[0]?.seq ?? 1) > to) return;
    yield* replayGeneration(record, generation, to);
  }
}

interface RunRecord {
  readonly runId: string;
  readonly events: readonly StoredEvent[];
  readonly blobs: Pick<BlobStore, 'get'>;
}

async function readRecord(source: ReplaySource): Promise<RunRecord> {
  if ('bundle' in source) {
    const { run, events, blobs } = readBundle(source.bundle);
    const contents = new Map(blobs.map(({ hash, content }) => [hash, content]));
    return { runId: run.runId, events, blobs: { get: (hash) => Promise.resolve(contents.get(hash)) } };
  }
  const { store, runId } = source;
  const row = await store.runs.find(runId);
  if (row === undefined) throw noSuchRun(store, runId);
  return { runId, events: await store.runs.events(runId, { to: row.headSeq }), blobs: store.blobs };
}

async function* replayGeneration(
  { runId, blobs }: RunRecord,
  events: readonly StoredEvent[],
  to: number,
): AsyncGenerator<ReplayStep, void, undefined> {
  const { snapshot, facts } = foldRun(runId, events, []);
  const { generation } = snapshot;
  const input = await readInput(snapshot.input, runId, blobs);
  const stage = stageOf({ runId, generation, input, facts, events });
  for (const event of events) {
    if (event.seq > to) return;
    yield await playStep(stage, event, { runId, generation });
  }
}

interface Place {
  readonly runId: string;
  readonly generation: number;
}

async function playStep(stage: ReplayStage, event: StoredEvent, place: Place): Promise<ReplayStep> {
  try {
    await play(stage, event, place.runId);
    return stepOf(stage, event, place.generation);
  } catch (error) {
    if (RerailError.isInstance(error)) throw error;
    // The machine trusts its own journal, and trips over an invented one.
    const why = error instanceof Error ? error.message : 'unknown';
    throw unreadable(place.runId, `event ${event.seq} is not of the form that this program writes (${why})`);
  }
}

interface StageParts {
  readonly runId: string;
  readonly generation: number;
  readonly input: Json;
  readonly facts: unknown;
  readonly events: readonly StoredEvent[];
}

function stageOf({ runId, generation, input, facts, events }: StageParts): ReplayStage {
  const config = configIn(input);
  if (config === undefined) throw unreadable(runId, 'it does not say how the agent was configured');
  const entries = events.flatMap(
    ({ type, body }) => (entryTypes.has(type) ? [body as unknown as JournalEntry] : []), // `foldRun` has looked at its position.
  );
  return createReplayStage({
    partsFor: (nextEntry) => createReplayParts({ config, facts, nextEntry }),
    runId,
    generation,
    input: input as unknown as DriveInput, // Written by the driver.
    entries,
    isCancelled: isCancelledFrom(events),
  });
}

const entryTypes: ReadonlySet<string> = new Set<JournalEntry['type']>(['call', 'sleep', 'wait']);

/** A run that is cancelled before it begins does nothing, and ends. */
function isCancelledFrom(events: readonly StoredEvent[]): boolean {
  if (at(events[0]?.body, ['cancelReason']) !== undefined) return true;
  const isBare = events.every(({ type }) => type !== 'cancelled' && !entryTypes.has(type));
  return isBare && events.some(({ type, body }) => type === 'ended' && at(body, ['status']) === 'cancelled');
}

async function play(stage: ReplayStage, { type, body, seq }: StoredEvent, runId: string): Promise<void> {
  if (type === 'began') return stage.begin();
  if (entryTypes.has(type)) return stage.give(body as unknown as JournalEntry); // As above.
  if (type === 'cancelled') return stage.cancel(JSON.stringify(at(body, ['reason'])));
  if (type === 'ended') checkEnd(stage, at(body, ['status']), { runId, seq });
  return undefined;
}

/** Where the engine itself ended the run, as one that does not fit its code, nothing leads to that. */
function checkEnd(
  stage: ReplayStage,
  status: unknown,
  { runId, seq }: { readonly runId: string; readonly seq: number },
): void {
  const phase = stage.live.state?.phase;
  const end = phase?.type === 'ended' ? phase.end : undefined;
  if (end === status || (end === undefined && status === 'failed')) return;
  const come = end ?? phase?.type ?? 'nothing';
  throw unreadable(runId, `event ${seq} says that it ended ("${String(status)}"), but it leads to "${come}"`);
}

function stepOf(stage: ReplayStage, event: StoredEvent, generation: number): ReplayStep {
  const { state } = stage.live;
  const { seq, atMs, type } = event;
  const outcome = state === undefined ? undefined : outcomeOf(state);
  return {
    seq,
    atMs,
    generation,
    type,
    text: describeEvent(event),
    events: stage.takeTold(),
    phase: state?.phase.type ?? 'beginning',
    turn: state?.turn ?? 0,
    usage: usageOf(state),
    ...(outcome === undefined ? {} : { outcome }),
  };
}

function usageOf(state: RunState | undefined): RunUsage {
  if (state === undefined) return { ...emptyLedger, toolCalls: 0, elapsedMs: 0 };
  const { phase, toolCalls } = state;
  const calling = phase.type === 'waiting' ? phase.calling : phase;
  // What the attempts of a call have used up joins the run's own account when the call is over.
  const { ledger, elapsedMs } = calling.type === 'calling-model' ? calling.progress : state;
  return { ...ledger, toolCalls, elapsedMs };
}

function unreadable(runId: string, why: string): RerailError {
  return RerailError.from(
    createFailure('STORAGE_CORRUPT', {
      origin: 'storage',
      message: `The record of run "${runId}" cannot be replayed: ${why}`,
      context: { runId },
    }),
  );
}
