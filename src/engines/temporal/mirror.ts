import type { Clock } from '../../base/clock.ts';
import { cancelledError, programChangedError, unrecordedError } from '../../runtime/record/durable-errors.ts';
import { createFailure } from '../../errors/failure.ts';
import type { EffectEnd, Outcome } from '../../runtime/record/durable.ts';
import type { JournalEntry, NamedSignal } from '../../runtime/record/journal.ts';
import { whatDiffers } from '../../runtime/record/memory-difference.ts';
import type { Asked } from '../../runtime/record/memory-generation.ts';
import type { FreshEntry } from './messages.ts';

/**
 * The worker's own copy of a run, so that its effects find the run's state without having it sent at every step.
 *
 * It is the same program, run here against what the workflow's history holds: it receives each outcome after Temporal has kept it, in
 * the same order, and decides nothing. Where it would do something else than the workflow did, the code here is not the run's.
 */
export interface Mirror {
  readonly runId: string;
  readonly generation: number;
  readonly clock: Clock;
  /** So many entries of the journal have been learnt. */
  count: number;
  /** The next position of its program. */
  next: number;
  /** What was learnt when it was made is old: it is not reported again. */
  quietBelow: number;
  /** What the workflow does at a position, as far as that was heard. */
  readonly known: Map<number, Asked>;
  readonly answers: Map<number, JournalEntry>;
  /** What the program here has asked for and not got yet. */
  readonly open: Map<number, OpenVerb>;
  /** What effects came to here, by the token that names it to the workflow. */
  readonly given: Map<string, GivenEnd>;
  /** Untaken signals, by id. */
  readonly pending: Map<string, NamedSignal>;
  /** Of effects that are under way. */
  readonly controllers: Set<AbortController>;
  readonly watchers: Set<() => void>;
  stop: Error | undefined;
  /** The program here does something else: this, in words. */
  changed: string | undefined;
  isOver: boolean;
}

export interface OpenVerb {
  readonly asked: Asked;
  readonly answer: (entry: JournalEntry) => void;
  readonly reject: (error: Error) => void;
}

interface GivenEnd {
  readonly position: number;
  readonly end: EffectEnd;
}

export interface MirrorOptions {
  readonly runId: string;
  readonly generation: number;
  readonly clock: Clock;
  /** All that the workflow has on record. */
  readonly entries: readonly FreshEntry[];
}

/** A copy whose program has not begun yet. */
export function createMirror(options: MirrorOptions): Mirror {
  const { runId, generation, clock, entries } = options;
  const mirror: Mirror = {
    runId,
    generation,
    clock,
    count: 0,
    next: 0,
    quietBelow: 1 + Math.max(-1, ...entries.map((entry) => ('position' in entry ? entry.position : -1))),
    known: new Map(),
    answers: new Map(),
    open: new Map(),
    given: new Map(),
    pending: new Map(),
    controllers: new Set(),
    watchers: new Set(),
    stop: undefined,
    changed: undefined,
    isOver: false,
  };
  learn(mirror, { base: 0, fresh: entries });
  return mirror;
}

/** Its program has come to an end, or was left. What it came to is the workflow's to say. */
export function leaveProgram(mirror: Mirror): void {
  mirror.isOver = true;
  wake(mirror);
}

/** Takes in what the workflow has on record. False where this copy cannot follow: then it needs all of it. */
export function learn(
  mirror: Mirror,
  { base, fresh }: { readonly base: number; readonly fresh: readonly FreshEntry[] },
): boolean {
  if (base > mirror.count) return false;
  const added: JournalEntry[] = [];
  let reason: string | undefined;
  for (const entry of fresh.slice(mirror.count - base)) {
    if (entry.type === 'cancelled') {
      reason = entry.reason;
      mirror.count += 1;
      continue;
    }
    const whole = entry.type === 'kept' ? ownEntry(mirror, entry) : entry;
    if (whole === undefined) return false;
    mirror.known.set(whole.position, askedOf(whole));
    mirror.answers.set(whole.position, whole);
    added.push(whole);
    mirror.count += 1;
  }
  // All are known before the first is answered: the program asks what comes next.
  for (const entry of added) answer(mirror, entry);
  if (reason !== undefined) stopMirror(mirror, reason);
  return true;
}

/** What an entry was asked for. */
function askedOf(entry: JournalEntry): Asked {
  if (entry.type !== 'wait') return entry;
  return { ...entry, timeoutMs: entry.timeoutMs, onWaiting: undefined };
}

function ownEntry(
  { given, known }: Mirror,
  { token, position }: Extract<FreshEntry, { type: 'kept' }>,
): JournalEntry | undefined {
  const own = given.get(token);
  const asked = known.get(position);
  if (own === undefined || asked?.type !== 'call' || own.position !== position) return undefined;
  given.delete(token);
  const { took, ...outcome } = own.end;
  return {
    type: 'call',
    position,
    effect: asked.effect,
    input: asked.input,
    outcome: outcome as Outcome, // What is left of it.
    ...(took === undefined ? {} : { took }),
  };
}

function answer({ open }: Mirror, entry: JournalEntry): void {
  const verb = open.get(entry.position);
  if (verb === undefined) return;
  open.delete(entry.position);
  verb.answer(entry);
}

/** Cancellation was requested: calls under way are aborted, and nothing else begins. */
function stopMirror(mirror: Mirror, reason: string): void {
  if (mirror.stop !== undefined) return;
  const error = cancelledError(mirror.runId, reason);
  mirror.stop = error;
  for (const controller of mirror.controllers) controller.abort(error);
  for (const [position, verb] of mirror.open) {
    // A call that is under way may still come to something.
    if (verb.asked.type === 'call') continue;
    mirror.open.delete(position);
    verb.reject(error);
  }
}

/** The workflow has ended, or continues elsewhere: what the program here still waits for does not come. */
export function endMirror(mirror: Mirror): void {
  const { runId } = mirror;
  const message = `This worker no longer runs "${runId}"`;
  const error =
    mirror.stop ??
    unrecordedError(createFailure('INVALID_STATE', { origin: 'durable', message, context: { runId } }));
  mirror.stop = error;
  for (const controller of mirror.controllers) controller.abort(error);
  for (const { reject } of mirror.open.values()) reject(error);
  mirror.open.clear();
}

/** The program here has come to a verb. */
export function openVerb(mirror: Mirror, position: number, verb: OpenVerb): void {
  const known = mirror.known.get(position);
  const difference = known === undefined ? undefined : whatDiffers(known as JournalEntry, verb.asked); // Compared by what they ask.
  if (difference !== undefined) {
    const { runId, generation } = mirror;
    mirror.changed = difference.asked;
    wake(mirror);
    return verb.reject(programChangedError({ runId, generation, ...difference }));
  }
  const entry = mirror.answers.get(position);
  if (entry !== undefined) return verb.answer(entry);
  if (mirror.stop !== undefined) return verb.reject(mirror.stop);
  mirror.open.set(position, verb);
  wake(mirror);
}

/** Waits until the program here is at this call; says what it does instead, where it never comes there. */
export async function standAt(mirror: Mirror, position: number, maxMs: number): Promise<string | undefined> {
  const isThere = (): boolean =>
    mirror.open.has(position) || mirror.changed !== undefined || mirror.isOver || mirror.stop !== undefined;
  if (!isThere()) {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        mirror.watchers.delete(look);
        stopTimer();
        resolve();
      };
      const look = (): void => (isThere() ? end() : undefined);
      const stopTimer = mirror.clock.after(maxMs, end);
      mirror.watchers.add(look);
    });
  }
  if (mirror.open.has(position)) return undefined;
  if (mirror.changed !== undefined) return mirror.changed;
  return mirror.isOver ? 'nothing: the program has ended' : `nothing within ${maxMs} ms`;
}

function wake({ watchers }: Mirror): void {
  for (const look of watchers) look();
}
