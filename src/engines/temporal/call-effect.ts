import { canonicalJson } from '../../base/canonical-json.ts';
import { fingerprint } from '../../base/hash.ts';
import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { programChangedError } from '../../runtime/durable-errors.ts';
import type { EffectEnd, Outcome } from '../../runtime/durable.ts';
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
 * Performs an effect as an activity. Temporal is told to try once. Where a worker dies at it, there is no outcome on record: then it
 * is handed to another one, as after every crash, and what must not happen twice is kept from it by its intent.
 */
export async function callEffect(generation: Generation, asked: AskedEffect): Promise<Outcome> {
  checkRoom(generation);
  checkSize(generation, asked.input, `the input of "${asked.effect}"`);
  const { maxLives } = generation.begin.limits;
  let lives = 0;
  let why = 'no worker took it';
  // Each round uses up a life, or hands the run to a worker that does not know it.
  for (let round = 1; round <= maxLives * 2 && lives < maxLives; round += 1) {
    const ending = await attempt(generation, asked, round);
    if (ending.type === 'replied' && ending.reply.type === 'outcome')
      return keep(generation, asked, { end: ending.reply.end, token: ending.reply.token });
    if (ending.type === 'replied' && ending.reply.type === 'changed')
      throw stopChanged(generation, asked, ending.reply);
    if (generation.stop !== undefined) throw generation.stop;
    if (ending.type === 'refused')
      return keep(generation, asked, { end: failedEnd(asked, { why: ending.why, lives: 1 }) });
    forgetWorker(generation);
    const loss = lossIn(ending);
    if (loss === undefined) continue;
    lives += 1;
    why = loss;
  }
  return keep(generation, asked, { end: failedEnd(asked, { why, lives }) });
}

/** Why nobody knows what came of it, where a worker has begun. */
function lossIn(ending: EffectEnding): string | undefined {
  if (ending.type === 'lost') return ending.why;
  return ending.type === 'replied' && ending.reply.type === 'let-go' ? 'its worker was stopped' : undefined;
}

/** Whoever takes the next effect is not the one that knew the run. */
function forgetWorker(generation: Generation): void {
  generation.queue = undefined;
  generation.known = undefined;
}

async function attempt(generation: Generation, asked: AskedEffect, round: number): Promise<EffectEnding> {
  const { queue, sandbox } = generation;
  const request = requestOf(generation, asked);
  const running = sandbox.perform(request, schedulingOf(generation, asked, round));
  const ending = await untilStopped(generation, running);
  if (ending.type !== 'replied' || ending.reply.type !== 'outcome') return ending;
  const learnt = request.base + request.fresh.length;
  const isSame = queue === ending.reply.queue && generation.queue === queue;
  generation.queue = ending.reply.queue;
  generation.known = isSame ? Math.max(generation.known ?? 0, learnt) : learnt;
  return ending;
}

/** What stands in the history with every call; more than that is asked for by the worker that needs it. */
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

/** Once the run is cancelled, what the effect has come to is waited for, but not for long. */
function untilStopped(
  generation: Generation,
  running: ReturnType<Generation['sandbox']['perform']>,
): Promise<EffectEnding> {
  const { stops, sandbox, begin } = generation;
  return new Promise((resolve, reject) => {
    let endGrace = (): void => undefined;
    const stop = (): void => {
      running.cancel();
      const grace = sandbox.sleep(begin.limits.cancelGraceMs);
      endGrace = grace.cancel;
      grace.promise.then(
        () => end({ type: 'cancelled' }),
        () => undefined, // It was over before.
      );
    };
    const end = (ending: EffectEnding): void => {
      stops.delete(stop);
      endGrace();
      resolve(ending);
    };
    stops.add(stop);
    running.promise.then(end, (error: unknown) => {
      stops.delete(stop);
      endGrace();
      reject(error instanceof Error ? error : new Error(String(error)));
    });
  });
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
