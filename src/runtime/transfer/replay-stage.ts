import type { RunEvent } from '../../agent/run-event.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import type { AgentParts } from '../agent-parts.ts';
import { drive } from '../drive.ts';
import type { DriveInput } from '../drive.ts';
import type { Durable } from '../record/durable.ts';
import {
  cancelledError,
  controlTypeOf,
  programChangedError,
  restartError,
} from '../record/durable-errors.ts';
import type { JournalEntry } from '../record/journal.ts';
import { createDeferred, createLiveRun } from '../run/live-run.ts';
import type { Deferred, LiveRun } from '../run/live-run.ts';
import { describe } from '../record/memory-difference.ts';
import type { Asked } from '../record/memory-generation.ts';

/**
 * The driver over the record of one generation. It stands still until it is given the next entry, in the order in which they were
 * written: an answer is given to it no sooner than it was in its life.
 *
 * The driver waits for nothing but the verbs that it has made, and continues once all of them are answered. So after the last
 * answer it comes to its next verb, or to its end: that is waited for, and then it stands still again.
 */
export interface ReplayStage {
  readonly live: LiveRun;
  /** What the machine has emitted since it was last asked. */
  readonly takeTold: () => readonly RunEvent[];
  /** Runs it to its first verb. */
  readonly begin: () => Promise<void>;
  /** Gives it an entry of the journal. Rejects where the driver has not asked for that. */
  readonly give: (entry: JournalEntry) => Promise<void>;
  /** Cancellation was requested. */
  readonly cancel: (reason: string) => Promise<void>;
}

export interface StageOptions {
  /** Makes what the driver asks of an agent, by what the journal holds where its next verb would stand. */
  readonly partsFor: (nextEntry: () => JournalEntry | undefined) => AgentParts;
  readonly runId: string;
  readonly generation: number;
  readonly input: DriveInput;
  /** All entries of the generation, in the order in which they were written. */
  readonly entries: readonly JournalEntry[];
  /** Its end was asked for before it began. */
  readonly isCancelled: boolean;
}

/** Builds what a generation is replayed on. */
export function createReplayStage(options: StageOptions): ReplayStage {
  const { runId, isCancelled, entries } = options;
  const live = createLiveRun(runId, 1);
  live.isCancelled = isCancelled;
  const stage: Staged = {
    options,
    live,
    answered: new Set(),
    answers: new Set(entries.filter(isAnswer).map(({ position }) => position)),
    open: new Map(),
    next: 0,
    cancelReason: isCancelled ? 'its end was requested before it started' : undefined,
    moved: createDeferred(),
    end: undefined,
  };
  let told: RunEvent[] = [];
  live.watchers.add({ hear: (event) => void told.push(event), wantsDeltas: true });
  return {
    live,
    takeTold: () => {
      const taken = told;
      told = [];
      return taken;
    },
    begin: () => begin(stage),
    give: (entry) => give(stage, entry),
    cancel: (reason) => cancel(stage, reason),
  };
}

/** What is held of a generation while it is replayed. */
interface Staged {
  readonly options: StageOptions;
  readonly live: LiveRun;
  /** Positions that were given. */
  readonly answered: Set<number>;
  /** Positions at which the journal holds an answer. */
  readonly answers: ReadonlySet<number>;
  /** Verbs that wait for their entry. */
  readonly open: Map<number, OpenVerb>;
  next: number;
  cancelReason: string | undefined;
  /** Kept when the driver comes to a verb, or to its end. */
  moved: Deferred<void>;
  end: { readonly thrown?: unknown } | undefined;
}

interface OpenVerb {
  readonly asked: Asked;
  readonly answer: (entry: JournalEntry) => void;
  readonly reject: (error: unknown) => void;
}

async function begin(stage: Staged): Promise<void> {
  const { partsFor, input, entries } = stage.options;
  const byPosition = new Map(entries.map((entry) => [entry.position, entry]));
  const parts = partsFor(() => byPosition.get(stage.next));
  const { live } = stage;
  const end = (ended: { readonly thrown?: unknown }): void => {
    stage.end = ended;
    stage.moved.resolve();
  };
  void drive({ parts, live, onOutcome: () => undefined }, durableOf(stage), input).then(
    () => end({}),
    (thrown: unknown) => end({ thrown }),
  );
  await settle(stage);
}

/** Waits until the driver stands still, and breaks off what was broken off. */
async function settle(stage: Staged): Promise<void> {
  await stage.moved.promise;
  // Bounded: each round rejects what the driver waits for, and a cancelled run makes no verb again that could wait.
  while (stage.end === undefined && isBrokenOff(stage)) {
    stage.moved = createDeferred();
    for (const [position, { reject }] of stage.open) {
      stage.open.delete(position);
      reject(cancelledError(stage.options.runId, stage.cancelReason ?? ''));
    }
    await stage.moved.promise;
  }
  const thrown = stage.end?.thrown;
  if (thrown instanceof Error && controlTypeOf(thrown) !== 'restart') throw thrown;
}

/** Cancellation was requested, and nothing of what the driver waits for was written down after that. */
function isBrokenOff({ cancelReason, open, answers }: Staged): boolean {
  return (
    cancelReason !== undefined && open.size > 0 && ![...open.keys()].some((position) => answers.has(position))
  );
}

async function give(stage: Staged, entry: JournalEntry): Promise<void> {
  const { position } = entry;
  const verb = stage.open.get(position);
  if (verb === undefined) {
    // A store that failed may have written an entry and been given it again.
    if (stage.answered.has(position)) return;
    throw changed(stage, entry, 'no such call');
  }
  if (!fits(entry, verb.asked)) throw changed(stage, entry, describe(verb.asked));
  if (!isAnswer(entry)) return;
  stage.open.delete(position);
  stage.answered.add(position);
  // Others are still to be answered: until then the driver stands still.
  if (stage.open.size === 0) stage.moved = createDeferred();
  verb.answer(entry);
  await settle(stage);
}

async function cancel(stage: Staged, reason: string): Promise<void> {
  stage.cancelReason ??= reason;
  stage.live.isCancelled = true;
  if (stage.end === undefined) await settle(stage);
}

/** Whether a verb has its answer by this entry, or has only begun. */
function isAnswer(entry: JournalEntry): boolean {
  if (entry.type === 'sleep') return entry.isOver;
  return entry.type === 'call' || entry.signalled !== undefined;
}

function durableOf(stage: Staged): Durable {
  const { runId, generation } = stage.options;
  return {
    runId,
    generation,
    isVolatile: false,
    call: (effect, input) =>
      ask(stage, { type: 'call', position: stage.next, effect, input }, (entry) =>
        entry.type === 'call' ? entry.outcome : undefined,
      ),
    sleep: (delayMs) =>
      ask(stage, { type: 'sleep', position: stage.next, delayMs }, () => null).then(() => undefined),
    waitFor: (signal, options) => {
      const { timeoutMs, onWaiting } = options ?? {};
      return ask(stage, { type: 'wait', position: stage.next, signal, timeoutMs, onWaiting }, (entry) =>
        entry.type === 'wait' ? entry.signalled : undefined,
      );
    },
    restart: () => {
      throw restartError(runId);
    },
    upcoming: () => stage.options.entries.findLast(({ position }) => position === stage.next),
  };
}

function ask<T>(stage: Staged, asked: Asked, read: (entry: JournalEntry) => T | undefined): Promise<T> {
  const { position } = asked;
  stage.next += 1;
  return new Promise<T>((resolve, reject) => {
    const answer = (entry: JournalEntry): void => {
      const result = read(entry);
      if (result === undefined) reject(changed(stage, entry, describe(asked)));
      else resolve(result);
    };
    stage.open.set(position, { asked, answer, reject });
    stage.moved.resolve();
  });
}

/** Inputs that hold what was said, or what only the agent knows: they are not compared. */
const unlikeInputs: ReadonlySet<string> = new Set(['ask', 'intend']);

function fits(entry: JournalEntry, asked: Asked): boolean {
  if (entry.type !== 'call' || asked.type !== 'call') return describe(entry) === describe(asked);
  if (entry.effect !== asked.effect) return false;
  return unlikeInputs.has(entry.effect) || isAlike(entry.input, asked.input);
}

/** The same but for texts: those may have been redacted. */
function isAlike(recorded: Json | undefined, asked: Json | undefined): boolean {
  if (typeof recorded === 'string') return asked !== undefined;
  if (Array.isArray(recorded) && Array.isArray(asked))
    return (
      recorded.length === asked.length &&
      recorded.every((member: Json, index) => isAlike(member, asked[index] as Json)) // A part of what is JSON.
    );
  if (!isRecord(recorded) || !isRecord(asked)) return recorded === asked;
  const [left, right] = [recorded as Members, asked as Members]; // Parts of what is JSON.
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((name) =>
    isAlike(left[name], right[name]),
  );
}

type Members = Readonly<Record<string, Json>>;

function changed({ options: { runId, generation } }: Staged, entry: JournalEntry, asked: string): Error {
  return programChangedError({
    runId,
    generation,
    position: entry.position,
    recorded: describe(entry),
    asked,
  });
}
