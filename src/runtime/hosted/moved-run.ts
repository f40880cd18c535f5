import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import type {
  Durable,
  DurableCallOptions,
  DurableProgram,
  Outcome,
  RecordedVerb,
  Signalled,
  WaitOptions,
} from '../record/durable.ts';
import { cancelledError, programChangedError } from '../record/durable-errors.ts';
import type { JournalEntry, RunSnapshot } from '../record/journal.ts';
import { whatDiffers } from '../record/memory-difference.ts';
import type { Asked } from '../record/memory-generation.ts';

/** A run that began elsewhere, as an engine is given it: its record is a part of the input. */
export interface MovedRun {
  readonly type: 'moved';
  readonly record: RunSnapshot;
  /** When it was taken over: what was to be waited for then is waited for from there on. Milliseconds since 1970. */
  readonly movedAtMs: number;
}

/** A program that also takes runs which began elsewhere. What is on record of them is answered from the record. */
export function withMovedRuns(program: DurableProgram): DurableProgram {
  return (durable, input) =>
    isMoved(input) ? program(afterPast(durable, input), input.record.input) : program(durable, input);
}

/** The input of a moved run as its program knows it; any other input is what it is. */
export function ownInput(input: Json): Json {
  return isMoved(input) ? input.record.input : input;
}

function isMoved(input: unknown): input is MovedRun {
  return isRecord(input) && input['type'] === 'moved' && isRecord(input['record']);
}

/** What is on record elsewhere, and how far the program has come in it. */
interface Past {
  readonly durable: Durable;
  readonly moved: MovedRun;
  readonly entries: ReadonlyMap<number, JournalEntry>;
  position: number;
}

function afterPast(durable: Durable, moved: MovedRun): Durable {
  const entries = new Map(moved.record.journal.map((entry) => [entry.position, entry]));
  const past: Past = { durable, moved, entries, position: 0 };
  const { announce } = durable;
  const { provenance } = moved.record;
  return {
    runId: durable.runId,
    generation: durable.generation,
    ...(durable.isVolatile === undefined ? {} : { isVolatile: durable.isVolatile }),
    ...(durable.isCopy === undefined ? {} : { isCopy: durable.isCopy }),
    call: (effect, input, options) => call(past, { effect, input, options }),
    sleep: (delayMs) => sleep(past, delayMs),
    waitFor: (signal, options = {}) => waitFor(past, signal, options),
    restart: (state) => restart(past, state),
    ...(announce === undefined ? {} : { announce }),
    ...(provenance === undefined ? {} : { provenance }),
    isReplaying: () => entries.has(past.position) || (durable.isReplaying?.() ?? false),
    upcoming: () => upcoming(past),
  };
}

interface Calling {
  readonly effect: string;
  readonly input: Json;
  readonly options: DurableCallOptions | undefined;
}

// The position is taken before anything is waited for, so that calls side by side stand in the order in which they were made.

async function call(past: Past, { effect, input, options }: Calling): Promise<Outcome> {
  const entry = next(past, (position) => ({ type: 'call', position, effect, input }));
  if (entry?.type === 'call') return entry.outcome;
  return live(past).call(effect, input, options);
}

async function sleep(past: Past, delayMs: number): Promise<void> {
  const entry = next(past, (position) => ({ type: 'sleep', position, delayMs }));
  if (entry?.type !== 'sleep') return live(past).sleep(delayMs);
  if (!entry.isOver) await live(past).sleep(restOf(past, entry.dueAtMs));
}

async function waitFor(past: Past, signal: string, options: WaitOptions): Promise<Signalled> {
  const { timeoutMs, onWaiting } = options;
  const entry = next(past, (position) => ({ type: 'wait', position, signal, timeoutMs, onWaiting }));
  if (entry?.type !== 'wait') return live(past).waitFor(signal, options);
  if (entry.signalled !== undefined) return entry.signalled;
  const rest = entry.dueAtMs === undefined ? {} : { timeoutMs: restOf(past, entry.dueAtMs) };
  return live(past).waitFor(signal, { ...options, ...rest });
}

/** The entry where the program stands. Throws where it is one of something else. */
function next(past: Past, ask: (position: number) => Asked): JournalEntry | undefined {
  const { entries, durable, moved } = past;
  const asked = ask(past.position);
  const entry = entries.get(past.position);
  past.position += 1;
  const difference = entry === undefined ? undefined : whatDiffers(entry, asked);
  if (difference === undefined) return entry;
  throw programChangedError({ runId: durable.runId, generation: moved.record.generation, ...difference });
}

/** The engine itself, for what is not on record; no process continues where the run was cancelled there. */
function live({ durable, moved }: Past): Durable {
  const { cancelReason } = moved.record;
  if (cancelReason !== undefined) throw cancelledError(durable.runId, cancelReason);
  return durable;
}

/** What would be left out of the next generation was done: it must not be done again. */
function restart({ entries, position, durable, moved }: Past, state: Json): never {
  const left = Math.max(-1, ...entries.keys()) + 1 - position;
  if (left <= 0) return durable.restart(state);
  throw programChangedError({
    runId: durable.runId,
    generation: moved.record.generation,
    position,
    recorded: `${left} further steps`,
    asked: 'its next generation',
  });
}

function upcoming({ entries, position, durable }: Past): RecordedVerb | undefined {
  const entry = entries.get(position);
  if (entry === undefined) return durable.upcoming?.();
  if (entry.type !== 'call') return { type: entry.type };
  return { type: 'call', effect: entry.effect, input: entry.input };
}

function restOf({ moved }: Past, dueAtMs: number): number {
  return Math.max(0, dueAtMs - moved.movedAtMs);
}
