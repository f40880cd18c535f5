import { canonicalJson } from '../../base/canonical-json.ts';
import { fingerprint } from '../../base/hash.ts';
import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { programChangedError } from '../../runtime/record/durable-errors.ts';
import type { EffectEnd, Outcome } from '../../runtime/record/durable.ts';
import { checkRoom, checkSize, freshFor, stopRun } from './generation.ts';
import type { Generation } from './generation.ts';
import type { EffectReply, EffectRequest } from './messages.ts';
import type { EffectEnding, Scheduling } from './sandbox.ts';

/** A call with its place. */
export interface AskedEffect {
  readonly position: number;
  readonly effect: string;
  readonly input: Json;
  readonly timeoutMs: number | undefined;
}

/**
 * Performs an effect as an activity. Temporal is asked to try once. Where a worker dies at it, there is no outcome on record: then it
 * is handed to another one, as after every crash, and what must not happen twice is kept from it by its intent.
 *
 * Written with callbacks: Temporal's worker takes a stack trace of every promise that a workflow makes, so a step makes few.
 */
export function callEffect(generation: Generation, asked: AskedEffect): Promise<Outcome> {
  const { promise, resolve, reject } = heardPromise<Outcome>();
  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      reject(error);
    }
  };
  const begin = (tried: Tried): void =>
    attempt(generation, asked, {
      round: tried.round,
      onEnd: (ending) =>
        guarded(() => {
          const next = afterEnding(generation, asked, { tried, ending });
          if (next.type === 'kept') resolve(next.outcome);
          else begin(next);
        }),
    });
  guarded(() => {
    checkRoom(generation);
    checkSize(generation, asked.input, `the input of "${asked.effect}"`);
    begin({ type: 'tried', round: 1, lives: 0, why: 'no worker took it' });
  });
  return promise;
}

interface HeardPromise<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

/** A program may wait for it later, or not at all: Temporal would stop the workflow at an unhandled rejection. */
function heardPromise<Value>(): HeardPromise<Value> {
  let settle: Pick<HeardPromise<Value>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    promise,
    resolve: (value) => settle?.resolve(value),
    reject: (reason) => {
      promise.catch(() => undefined);
      settle?.reject(reason);
    },
  };
}

/** The rounds of one call: each uses up a life, or hands the run to a worker that does not know it. */
interface Tried {
  readonly type: 'tried';
  readonly round: number;
  readonly lives: number;
  readonly why: string;
}

interface RoundEnd {
  readonly tried: Tried;
  readonly ending: EffectEnding;
}

/** The outcome, or another round. Throws where the run cannot continue. */
function afterEnding(
  generation: Generation,
  asked: AskedEffect,
  { tried, ending }: RoundEnd,
): Tried | { readonly type: 'kept'; readonly outcome: Outcome } {
  const kept = (what: Kept) => ({ type: 'kept', outcome: keep(generation, asked, what) }) as const;
  if (ending.type === 'replied' && ending.reply.type === 'outcome')
    return kept({ end: ending.reply.end, token: ending.reply.token });
  if (ending.type === 'replied' && ending.reply.type === 'changed')
    throw stopChanged(generation, asked, ending.reply);
  if (generation.stop !== undefined) throw generation.stop;
  if (ending.type === 'refused') return kept({ end: failedEnd(asked, { why: ending.why, lives: 1 }) });
  forgetWorker(generation);
  const loss = lossIn(ending);
  const round = tried.round + 1;
  const lives = tried.lives + (loss === undefined ? 0 : 1);
  const why = loss ?? tried.why;
  const { maxLives } = generation.begin.limits;
  if (round > maxLives * 2 || lives >= maxLives) return kept({ end: failedEnd(asked, { why, lives }) });
  return { type: 'tried', round, lives, why };
}

/** Why it is unknown what came of it, where a worker has begun. */
function lossIn(ending: EffectEnding): string | undefined {
  if (ending.type === 'lost') return ending.why;
  return ending.type === 'replied' && ending.reply.type === 'let-go' ? 'its worker was stopped' : undefined;
}

/** The process that takes the next effect is not the one that knew the run. */
function forgetWorker(generation: Generation): void {
  generation.queue = undefined;
  generation.known = undefined;
}

interface Round {
  readonly round: number;
  readonly onEnd: (ending: EffectEnding) => void;
}

function attempt(generation: Generation, asked: AskedEffect, { round, onEnd }: Round): void {
  const { queue, sandbox } = generation;
  const request = requestOf(generation, asked);
  const scheduling = schedulingOf(generation, asked, round);
  const perform: Perform = (end) => sandbox.perform(request, scheduling, end);
  untilStopped(generation, perform, (ending) => {
    if (ending.type === 'replied' && ending.reply.type === 'outcome') {
      const learnt = request.base + request.fresh.length;
      const isSame = queue === ending.reply.queue && generation.queue === queue;
      generation.queue = ending.reply.queue;
      generation.known = isSame ? Math.max(generation.known ?? 0, learnt) : learnt;
    }
    onEnd(ending);
  });
}

/** What is in the history with every call; more than that is asked for by the worker that needs it. */
const maxSentChars = 250_000;

function requestOf(generation: Generation, asked: AskedEffect): EffectRequest {
  const { begin, inbox, known, entries } = generation;
  const { runId, version, generation: number, input: beginning } = begin;
  const { position, effect, input, timeoutMs } = asked;
  const about = {
    runId,
    version,
    generation: number,
    position,
    effect,
    input,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  const sent = {
    ...freshFor(generation),
    ...(known === undefined ? { begin: { input: beginning } } : {}),
    pending: inbox.all(),
  };
  if (JSON.stringify(sent).length <= maxSentChars) return { ...about, ...sent };
  return { ...about, base: entries.length, fresh: [], pending: [], isRecalled: true };
}

function schedulingOf({ begin, queue }: Generation, asked: AskedEffect, round: number): Scheduling {
  const { effectTimeoutMs, heartbeatTimeoutMs, takeoverMs } = begin.limits;
  const { position, effect, input } = asked;
  const id = `${position}:${effect}:${fingerprint(canonicalJson(input))}${round === 1 ? '' : `:${round}`}`;
  const bounds = { id, timeoutMs: effectTimeoutMs, heartbeatMs: heartbeatTimeoutMs };
  return queue === undefined ? bounds : { ...bounds, queue, startWithinMs: takeoverMs };
}

type Perform = (onEnd: (ending: EffectEnding) => void) => () => void;

/** Once the run is cancelled, what the effect has come to is waited for, but not for long. */
function untilStopped(generation: Generation, perform: Perform, onEnd: (ending: EffectEnding) => void): void {
  const { stops, sandbox, begin } = generation;
  let isOver = false;
  let endGrace = (): void => undefined;
  const end = (ending: EffectEnding): void => {
    if (isOver) return;
    isOver = true;
    stops.delete(stop);
    endGrace();
    onEnd(ending);
  };
  const stop = (): void => {
    cancel();
    const grace = sandbox.sleep(begin.limits.cancelGraceMs);
    endGrace = grace.cancel;
    grace.promise.then(
      () => end({ type: 'cancelled' }),
      () => undefined, // It was over before.
    );
  };
  const cancel = perform(end);
  stops.add(stop);
}

interface Kept {
  readonly end: EffectEnd;
  readonly token?: string;
}

function keep(generation: Generation, asked: AskedEffect, { end, token }: Kept): Outcome {
  const { entries, inbox } = generation;
  const { position, effect, input } = asked;
  const { took, ...rest } = end;
  const outcome = rest as Outcome; // What is left of it.
  if (took !== undefined) inbox.remove(took);
  entries.push({
    entry: { type: 'call', position, effect, input, outcome, ...(took === undefined ? {} : { took }) },
    ...(token === undefined ? {} : { token }),
  });
  return outcome;
}

function failedEnd(
  { effect }: AskedEffect,
  { why, lives }: { readonly why: string; readonly lives: number },
): EffectEnd {
  const failure = createFailure('ACTIVITY_FAILED', {
    origin: 'durable',
    message: `Temporal gave up the activity of "${effect}" after ${lives} of its workers: ${why}`,
    sideEffect: lives === 0 ? 'none' : 'possible',
    context: { effect, workers: lives },
  });
  return { type: 'failed', failure };
}

function stopChanged(
  generation: Generation,
  { position, effect, input }: AskedEffect,
  { asked }: Extract<EffectReply, { type: 'changed' }>,
): Error {
  const { runId, generation: number } = generation.begin;
  const recorded = `a call of "${effect}" with input ${canonicalJson(input).slice(0, 200)}`;
  const error = programChangedError({ runId, generation: number, position, recorded, asked });
  stopRun(generation, error);
  return error;
}
