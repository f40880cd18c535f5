import { isRecord } from '../../base/json.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import { systemClock } from '../../base/system.ts';
import type { Clock } from '../../base/clock.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { createAssembly } from '../../model/assembly.ts';
import type { Assembly } from '../../model/assembly.ts';
import type { AttemptOptions, ModelResponse } from '../../model/model.ts';
import type { Price } from '../../model/price.ts';
import { settle } from '../../model/settle.ts';
import { isProgress } from '../../model/stream-part.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { checkTimeouts, completeTimeouts } from '../../model/stream-watch.ts';
import type { Timeouts } from '../../model/timeouts.ts';
import { endFailure, startEnding } from '../attempt-ending.ts';
import type { End, Ending } from '../attempt-ending.ts';
import { withVerdict } from '../classify-error.ts';
import type { ClassifyError, FailureEvidence } from '../classify-error.ts';
import { listenerFailure, thrownFailure } from '../http/attempt-failures.ts';
import type { AttemptFacts } from '../http/attempt-failures.ts';
import { createPartReader } from './read-model-part.ts';
import type { PartReader } from './read-model-part.ts';

/** Whose stream it is. */
export interface StreamOwner {
  readonly provider: string;
  readonly model: string;
  readonly price?: Price | undefined;
  readonly classifyError?: ClassifyError | undefined;
}

interface Course {
  readonly owner: StreamOwner;
  readonly options: AttemptOptions;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly ending: Ending;
  readonly assembly: Assembly;
  readonly reader: PartReader;
  phase: AttemptFacts['phase'];
  evidence: FailureEvidence;
}

/**
 * Reads one stream to its end, whatever it does: never rejects, ends when the signal aborts or a timeout is over, even where the stream
 * ignores both, and tells no part after it has ended.
 */
export async function attemptStream(
  open: (signal: AbortSignal) => unknown,
  owner: StreamOwner,
  options: AttemptOptions,
): Promise<ModelResponse> {
  const assembly = createAssembly();
  const wrong = checkTimeouts(options.timeouts);
  if (wrong !== undefined) return settle(assembly.read(), { ...owner, failure: wrong });
  const clock = options.clock ?? systemClock;
  const timeouts = completeTimeouts(options.timeouts);
  const ending = startEnding({ timeouts, clock, signal: options.signal });
  const course: Course = {
    owner,
    options,
    timeouts,
    clock,
    ending,
    assembly,
    reader: createPartReader(),
    phase: 'connect',
    evidence: {},
  };
  try {
    const failure =
      (await readAnswer(open, course)) ?? (await tell(course.reader.finish(), course)) ?? unended(course);
    const response = settle(assembly.read(), { ...owner, failure });
    return withVerdict(response, owner.classifyError, () => course.evidence);
  } finally {
    ending.stop();
  }
}

/** Reads until the end. Returns what broke it, where something did; a stream that merely stops is judged by what it said. */
async function readAnswer(
  open: (signal: AbortSignal) => unknown,
  course: Course,
): Promise<Failure | undefined> {
  const { ending } = course;
  const endedEarly = ending.read();
  if (endedEarly !== undefined) return endedBy(endedEarly, course);
  // The stream makes its own connection and says nothing of it: until its first part, all is waiting for headers.
  ending.watch.connected();
  course.phase = 'headers';
  let iterator: Iterator<unknown> | AsyncIterator<unknown> | undefined;
  let isOver = false;
  try {
    const opening = ending.wait(Promise.resolve(open(ending.signal())).then(iterate));
    const opened = await opening;
    if (opened.type !== 'value') return endedBy(opened.type === 'ended' ? opened.end : 'total', course);
    iterator = opened.value;
    if (iterator === undefined) return brokenContract('it returned nothing that can be iterated', course);
    const failure = await readParts(iterator, course);
    isOver = failure === 'over';
    return failure === 'over' || failure === 'left' ? undefined : failure;
  } catch (thrown) {
    isOver = true; // A generator that threw has ended.
    return failureOf(thrown, course);
  } finally {
    if (!isOver) abandon(iterator, ending);
  }
}

function iterate(given: unknown): Iterator<unknown> | AsyncIterator<unknown> | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const source = given as Partial<AsyncIterable<unknown> & Iterable<unknown>>; // Looked at before it is used.
  if (typeof source[Symbol.asyncIterator] === 'function') return source[Symbol.asyncIterator]?.();
  return typeof source[Symbol.iterator] === 'function' ? source[Symbol.iterator]?.() : undefined;
}

/** Whether the author forgot the last part or the connection broke cannot be seen from here: the next step for both. */
function unended({ owner: { provider, model }, reader }: Course): Failure | undefined {
  if (reader.isFinished()) return undefined;
  return createFailure('STREAM_INTERRUPTED', {
    origin: 'model',
    phase: 'body',
    sideEffect: 'possible',
    message: `${provider} (${model}) ended its answer without the closing event`,
    hint: 'If this happens every time: the function "stream" must yield { type: "finished", finish: "stop" } as the last part.',
    provider: { provider, model },
  });
}

// A stream that never waits for anything outside would keep timers, and the whole process, from running.
const partsBetweenTimers = 1024;
// Counts may follow the end; a stream that does not close is not waited for any longer.
const afterFinishMs = 1000;

async function readParts(
  iterator: Iterator<unknown> | AsyncIterator<unknown>,
  course: Course,
): Promise<Failure | 'over' | 'left' | undefined> {
  const { ending, reader } = course;
  // Ends with the stream, with a bound of the reader, or with `totalMs`.
  for (let count = 1; ; count += 1) {
    const rested = count % partsBetweenTimers === 0 ? await ending.wait(letTimersRun(course)) : undefined;
    if (rested?.type === 'ended') return endedBy(rested.end, course);
    const isFinished = reader.isFinished();
    let next;
    try {
      next = await ending.wait(Promise.resolve(iterator.next()), isFinished ? afterFinishMs : undefined);
    } catch (thrown) {
      // What breaks after the announced end was not needed any more.
      return isFinished ? 'over' : failureOf(thrown, course);
    }
    if (next.type === 'late') return 'left';
    if (next.type === 'ended')
      return isFinished && next.end !== 'aborted' ? 'left' : endedBy(next.end, course);
    if (!isRecord(next.value)) return brokenContract('its next() gave no result', course);
    if (next.value.done === true) return 'over';
    const failure = await take(next.value.value, course);
    if (failure !== undefined) return failure;
  }
}

function letTimersRun({ clock }: Course): Promise<void> {
  return new Promise((resolve) => void clock.after(0, resolve));
}

/** Judges one yielded value, and lets its parts be heard. */
function take(value: unknown, course: Course): Promise<Failure | undefined> {
  const { ending, reader } = course;
  course.phase = 'body';
  ending.watch.headers();
  const read = reader.read(value);
  if (read.type === 'problem') return Promise.resolve(brokenContract(read.reason, course));
  if (read.parts.some(isProgress)) ending.watch.progress();
  else ending.watch.event();
  return tell(read.parts, course);
}

async function tell(parts: readonly StreamPart[], course: Course): Promise<Failure | undefined> {
  const { ending, assembly, options } = course;
  for (const part of parts) {
    const end = ending.read();
    if (end !== undefined && !course.reader.isFinished()) return endedBy(end, course);
    if (end === 'aborted') return endedBy(end, course);
    assembly.push(part);
    try {
      const heard: unknown = options.onPart?.(part);
      if (!isPromiseLike(heard)) continue;
      ending.watch.pause();
      const waited = await ending.wait(heard);
      ending.watch.resume();
      if (waited.type === 'ended') return endedBy(waited.end, course);
    } catch (thrown) {
      return listenerFailure(factsOf(course), thrown);
    }
  }
  return undefined;
}

function failureOf(thrown: unknown, course: Course): Failure {
  const end = course.ending.read();
  if (end !== undefined) return endedBy(end, course);
  course.evidence = { error: thrown };
  // A stream may throw `undefined`: then there is no more to say than that.
  return thrownFailure(factsOf(course), thrown ?? 'the stream threw without saying what');
}

function endedBy(end: End, course: Course): Failure {
  return endFailure(end, factsOf(course), { timeouts: course.timeouts, signal: course.options.signal });
}

function factsOf({ owner, phase, clock }: Course): AttemptFacts {
  const { provider, model } = owner;
  return { provider, model, phase, hidesConnection: true, wallMs: clock.wallMs() };
}

function brokenContract(reason: string, { owner, phase }: Course): Failure {
  const { provider, model } = owner;
  return createFailure('INVALID_RESPONSE', {
    origin: 'model',
    phase: phase === 'body' ? 'parse' : phase,
    retryable: false,
    sideEffect: 'possible',
    message: `The stream of ${provider} (${model}) cannot be read: ${reason}`,
    hint: 'Correct the function "stream" that was given to defineModel().',
    provider: { provider, model },
  });
}

/** Tells the stream to stop, and does not wait for it: it may ignore the signal, or hang in its own clean-up. */
function abandon(iterator: Iterator<unknown> | AsyncIterator<unknown> | undefined, ending: Ending): void {
  ending.abandon();
  try {
    Promise.resolve(iterator?.return?.()).catch(() => undefined); // Late by now, whatever it says.
  } catch {
    // A `return` of one's own may throw at once; the attempt has its end already.
  }
}
