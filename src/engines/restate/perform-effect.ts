import { onAbort } from '../../base/abort.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import type { Cancel } from '../../base/clock.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Effect, EffectContext, EffectEnd } from '../../runtime/durable.ts';
import { jsonFlaw, showJson } from '../../runtime/json-compare.ts';
import type { AskedCall } from '../../runtime/memory-generation.ts';
import type { Generation } from './generation.ts';
import { callRecord } from './record.ts';

interface Performance {
  readonly work: Effect;
  readonly timeoutMs: number | undefined;
}

/** Performs an effect and gives its record as text. Never rejects: Restate would perform it again. */
export function performEffect(
  generation: Generation,
  asked: AskedCall,
  performance: Performance,
): Promise<string> {
  const { abortTimeoutMs } = generation.host.options.limits;
  const withinMs = Math.min(performance.timeoutMs ?? abortTimeoutMs, abortTimeoutMs);
  const limit = createLimit(generation.controller.signal);
  return new Promise((resolve) => {
    const end = (ended: EffectEnd): void => {
      stopTimer();
      limit.release();
      resolve(writeRecord(asked, ended, generation.limits.maxValueBytes));
    };
    // It ends before Restate takes the attempt for dead and begins another one beside it.
    const stopTimer = generation.host.setup.clock.after(withinMs, () => {
      const message = `Effect "${asked.effect}" did not end within ${withinMs} ms; it may still be at work`;
      const failure = createFailure('TIMEOUT', { origin: 'durable', message, sideEffect: 'possible' });
      limit.abort(new DOMException(message, 'TimeoutError'));
      end({ type: 'failed', failure });
    });
    const fail = (thrown: unknown): void =>
      end({ type: 'failed', failure: classifyFailure(thrown, 'agent') });
    const settle = (given: EffectEnd): void =>
      end(given?.type === 'done' || given?.type === 'failed' ? given : noOutcome(asked.effect, given));
    try {
      const ending = performance.work(asked.input, contextOf(generation, asked, limit));
      if (isPromiseLike(ending)) void ending.then(settle, fail);
      else settle(ending);
    } catch (thrown) {
      fail(thrown);
    }
  });
}

function contextOf({ runId, inbox }: Generation, { position }: AskedCall, limit: Limit): EffectContext {
  return {
    runId,
    position,
    pending: inbox.pending,
    get signal() {
      return limit.signal();
    },
  };
}

function writeRecord(asked: AskedCall, end: EffectEnd, maxBytes: number): string {
  const { effect } = asked;
  const text = written(asked, end);
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  const failure = createFailure('HISTORY_LIMIT', {
    origin: 'durable',
    message: `The outcome of "${effect}" takes ${bytes} bytes, but a step keeps at most ${maxBytes}`,
    sideEffect: 'possible',
  });
  return written(asked, { type: 'failed', failure });
}

function written(asked: AskedCall, end: EffectEnd): string {
  try {
    return JSON.stringify(callRecord(asked, end));
  } catch (thrown) {
    const flaw = jsonFlaw(end) ?? String(thrown);
    const message = `Only JSON crosses the durable port, but in the outcome of "${asked.effect}" ${flaw}`;
    const failure = createFailure('INTERNAL', { message, sideEffect: 'possible' });
    return JSON.stringify(callRecord(asked, { type: 'failed', failure }));
  }
}

function noOutcome(effect: string, given: unknown): EffectEnd {
  const message = `Effect "${effect}" gave ${jsonFlaw(given) === undefined ? showJson(given) : typeof given} instead of an outcome`;
  return { type: 'failed', failure: createFailure('INTERNAL', { message }) };
}

/** The end of one call: that of its run, or of its own time. */
interface Limit {
  /** Made when it is asked for: a signal of its own takes longer than the rest of a step. */
  readonly signal: () => AbortSignal;
  readonly abort: (reason: unknown) => void;
  readonly release: Cancel;
}

function createLimit(run: AbortSignal): Limit {
  let controller: AbortController | undefined;
  let ended: { readonly reason: unknown } | undefined;
  let stopListening: Cancel = () => undefined;
  return {
    signal: () => {
      if (controller !== undefined) return controller.signal;
      const made = new AbortController();
      controller = made;
      if (ended === undefined) stopListening = onAbort(run, () => made.abort(run.reason));
      else made.abort(ended.reason);
      return made.signal;
    },
    abort: (reason) => {
      ended = { reason };
      controller?.abort(reason);
    },
    release: () => stopListening(),
  };
}
