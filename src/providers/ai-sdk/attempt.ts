import type { Clock } from '../../base/clock.ts';
import { isRecord } from '../../base/json.ts';
import { systemClock } from '../../base/system.ts';
import type { Failure } from '../../errors/failure.ts';
import { checkTimeouts, completeTimeouts } from '../../model/stream-watch.ts';
import type { Timeouts } from '../../model/timeouts.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import { endFailure, startEnding } from '../attempt-ending.ts';
import type { End, Ending, Waited } from '../attempt-ending.ts';
import { listenerFailure } from '../http/attempt-failures.ts';
import type { AttemptFacts } from '../http/attempt-failures.ts';
import { failureOfThrown, interruption, modelFailure, nameOfModel } from './failures.ts';
import { familyOf } from './language-model.ts';
import type { AiSdkRecord, CheckedModel } from './language-model.ts';
import { judgeFinish } from './read-finish.ts';
import { readPart } from './read-part.ts';
import type { ReadPart } from './read-part.ts';
import { sourceOfGenerated, sourceOfStream } from './source.ts';
import type { Source } from './source.ts';
import { createTally } from './tally.ts';
import type { AiSdkOutcome, Tally } from './tally.ts';

/** What one attempt at an AI SDK model is given. */
export interface AiSdkAttemptOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly clock?: Clock | undefined;
  /** Hears what `doStream` or `doGenerate` returned, before the first part. */
  readonly onResult?: ((result: AiSdkRecord) => void) | undefined;
  /**
   * Hears every part as the model sent it, and what it means, but for `error` and `finish`: those are in the outcome, since
   * nobody may see an end that is not the end. A promise that it returns is awaited before more is read.
   */
  readonly onPart?: ((part: AiSdkRecord, read: ReadPart) => void | Promise<void>) | undefined;
  /** Hears the finish part when the answer is known to be whole; the last thing that is heard. */
  readonly onFinish?: ((part: AiSdkRecord, read: ReadPart) => void | Promise<void>) | undefined;
  /** Hears what the model threw, or the value of its `error` part. */
  readonly onThrown?: ((error: unknown) => void) | undefined;
  /** Ends the attempt with a failure of the caller's, before the part is delivered. */
  readonly refuse?: ((read: ReadPart) => Failure | undefined) | undefined;
  /** Takes a streamed answer whose end has no reason for whole; by default it counts as cut off. See `judgeFinish`. */
  readonly acceptsUnknownFinish?: boolean | undefined;
}

/**
 * Calls `doStream` once and reads its stream to the end. Never rejects and never retries; ends when the signal aborts or a
 * timeout is over, even where the model does not listen. An `abortSignal` in the call options is replaced by the attempt's.
 */
export function attemptStream(
  model: CheckedModel,
  callOptions: AiSdkRecord,
  options: AiSdkAttemptOptions = {},
): Promise<AiSdkOutcome> {
  return attempt(model, options, {
    method: 'doStream',
    call: (abortSignal) => model.doStream({ ...callOptions, abortSignal }),
    toSource: sourceOfStream,
  });
}

/** The same for `doGenerate`: its answer comes in one piece, and is then told in parts. Only `totalMs` bounds it. */
export function attemptGenerate(
  model: CheckedModel,
  callOptions: AiSdkRecord,
  options: AiSdkAttemptOptions = {},
): Promise<AiSdkOutcome> {
  // An answer in one piece of JSON cannot be cut off unseen.
  return attempt(
    model,
    { ...options, acceptsUnknownFinish: true },
    {
      method: 'doGenerate',
      call: (abortSignal) => model.doGenerate({ ...callOptions, abortSignal }),
      toSource: sourceOfGenerated,
    },
  );
}

interface Plan {
  readonly method: 'doStream' | 'doGenerate';
  readonly call: (signal: AbortSignal) => Promise<unknown>;
  readonly toSource: (result: unknown) => Source | undefined;
}

interface Scope {
  readonly model: CheckedModel;
  readonly options: AiSdkAttemptOptions;
  readonly clock: Clock;
  readonly timeouts: Timeouts;
  readonly ending: Ending;
  readonly tally: Tally;
}

async function attempt(model: CheckedModel, options: AiSdkAttemptOptions, plan: Plan): Promise<AiSdkOutcome> {
  const clock = options.clock ?? systemClock;
  const tally = createTally(model);
  const wrong = checkTimeouts(options.timeouts);
  if (wrong !== undefined) return tally.fail(wrong);
  const timeouts = completeTimeouts(options.timeouts);
  const ending = startEnding({ timeouts, clock, signal: options.signal });
  const scope: Scope = { model, options, clock, timeouts, ending, tally };
  let source: Source | undefined;
  try {
    const opened = await open(plan, scope);
    if (opened.type === 'failure') return tally.fail(opened.failure);
    source = opened.source;
    const misheard = await hear(() => options.onResult?.(opened.result), scope);
    if (misheard !== undefined) return tally.fail(misheard);
    const failure = (await readToEnd(source, scope)) ?? findFailure(scope) ?? (await hearFinish(scope));
    return failure === undefined ? tally.succeed(opened.result) : tally.fail(failure);
  } finally {
    source?.cancel();
    ending.stop();
  }
}

type Opened =
  | { readonly type: 'source'; readonly source: Source; readonly result: AiSdkRecord }
  | { readonly type: 'failure'; readonly failure: Failure };

async function open(plan: Plan, scope: Scope): Promise<Opened> {
  const { model, ending } = scope;
  const failed = (failure: Failure): Opened => ({ type: 'failure', failure });
  const endedEarly = ending.read();
  if (endedEarly !== undefined) return failed(endedBy(endedEarly, 'connect', scope));
  // The model makes its own connection and tells nothing of it: until it answers, all is waiting for headers.
  ending.watch.connected();
  if (plan.method === 'doGenerate') {
    ending.watch.headers();
    ending.watch.pause();
  }
  try {
    const call = plan.call(ending.signal());
    const waited = await ending.wait(call);
    if (waited.type !== 'value') {
      call.then((late) => plan.toSource(late)?.cancel()).catch(() => undefined); // Nobody waits for it any more.
      const end = waited.type === 'ended' ? waited.end : 'total';
      return failed(endedBy(end, 'headers', scope));
    }
    ending.watch.headers();
    const source = plan.toSource(waited.value);
    if (source !== undefined && isRecord(waited.value))
      return { type: 'source', source, result: waited.value };
    return failed(
      modelFailure('INVALID_RESPONSE', model, {
        phase: 'parse',
        retryable: false,
        message: `${plan.method} of ${nameOfModel(model)} returned nothing that can be read as an answer`,
        hint: 'The model breaks the specification of the AI SDK. Check its package, and any middleware around it.',
      }),
    );
  } catch (thrown) {
    return failed(thrownIn(scope, thrown, 'headers'));
  }
}

// A stream that goes on after its finish part is waited for no longer than this: some packages correct themselves.
const afterFinishMs = 1000;

async function readToEnd(source: Source, scope: Scope): Promise<Failure | undefined> {
  const { ending, tally } = scope;
  // Ends with the stream, with a bound of the tally, or with `totalMs`.
  for (;;) {
    const isFinished = tally.finish() !== undefined;
    let next: Waited<Awaited<ReturnType<Source['next']>>>;
    try {
      next = await ending.wait(source.next(), isFinished ? afterFinishMs : undefined);
    } catch (thrown) {
      // What breaks after the announced end was not needed any more.
      if (isFinished) return undefined;
      return thrownIn(scope, thrown, 'body');
    }
    if (next.type === 'late') return undefined;
    if (next.type === 'ended') {
      if (isFinished && next.end !== 'aborted') return undefined;
      return endedBy(next.end, 'body', scope);
    }
    if (next.value.done) return undefined;
    const failure = await take(next.value.value, scope);
    if (failure !== undefined) return failure;
  }
}

/** Judges one part, and lets it be heard. */
async function take(value: unknown, scope: Scope): Promise<Failure | undefined> {
  const { model, options, ending, tally } = scope;
  const read = readPart(value);
  if (read.type === 'malformed') {
    return modelFailure('INVALID_RESPONSE', model, {
      phase: 'parse',
      message: `The answer of ${nameOfModel(model)} cannot be read: ${read.reason}`,
    });
  }
  if (read.type === 'error') {
    return thrownIn(scope, read.error, 'body');
  }
  if (isProgress(read)) ending.watch.progress();
  else ending.watch.event();
  const part = value as AiSdkRecord; // readPart has seen that it is one.
  if (read.type === 'finish') return tally.finishWith(part, read.finish);
  const refused = options.refuse?.(read);
  if (refused !== undefined) return refused;
  return tally.add(read) ?? (await hear(() => options.onPart?.(part, read), scope));
}

/** Whether a part carries something of the answer, or only shows that the other side lives. */
function isProgress(read: ReadPart): boolean {
  if (read.type === 'block-delta' || read.type === 'call-delta') return read.delta !== '';
  return read.type !== 'keep-alive' && read.type !== 'opened' && read.type !== 'response';
}

function hearFinish(scope: Scope): Promise<Failure | undefined> {
  const part = scope.tally.finishPart() ?? {};
  return hear(() => scope.options.onFinish?.(part, readPart(part)), scope);
}

async function hear(tell: () => void | Promise<void>, scope: Scope): Promise<Failure | undefined> {
  const { ending } = scope;
  try {
    const heard = tell();
    if (!isPromiseLike(heard)) return undefined;
    ending.watch.pause();
    const waited = await ending.wait(heard);
    ending.watch.resume();
    return waited.type === 'ended' ? endedBy(waited.end, 'body', scope) : undefined;
  } catch (thrown) {
    return listenerFailure(factsOf('body', scope), thrown);
  }
}

function thrownIn({ options, model, clock }: Scope, thrown: unknown, phase: 'headers' | 'body'): Failure {
  options.onThrown?.(thrown);
  return failureOfThrown(thrown, model, { phase, nowMs: clock.wallMs() });
}

function findFailure({ model, options, tally }: Scope): Failure | undefined {
  const finish = tally.finish();
  if (finish === undefined) return interruption(model, undefined);
  const verdict = judgeFinish(finish);
  if (verdict === 'announced') return undefined;
  return verdict === 'unknown' && options.acceptsUnknownFinish === true
    ? undefined
    : interruption(model, finish);
}

function endedBy(end: End, phase: AttemptFacts['phase'], scope: Scope): Failure {
  const { timeouts, options } = scope;
  return endFailure(end, factsOf(phase, scope), { timeouts, signal: options.signal });
}

function factsOf(phase: AttemptFacts['phase'], { model, clock }: Scope): AttemptFacts {
  return { provider: familyOf(model), model: model.modelId, phase, wallMs: clock.wallMs() };
}
