import { onAbort } from '../../base/abort.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import type { Cancel } from '../../base/clock.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Effect, EffectContext, EffectEnd } from '../../runtime/record/durable.ts';
import { jsonFlaw, showJson } from '../../runtime/model-call/json-compare.ts';
import type { AskedCall } from '../../runtime/record/memory-generation.ts';
import type { Generation } from './generation.ts';
import { callText } from './record.ts';
import type { CalledText } from './record.ts';

interface Performance {
  readonly work: Effect;
  /** The input as it was written. */
  readonly inputText: string;
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
  const limit: Limit = { run: generation.controller.signal };
  return new Promise((resolve) => {
    const end = (ended: EffectEnd): void => {
      stopTimer();
      generation.atWork.delete(giveUp);
      limit.stopListening?.();
      const called = { effect: asked.effect, inputText: performance.inputText };
      resolve(writeRecord(called, ended, generation.limits.maxValueBytes));
    };
    const giveUp = (): void => {
      const message = `Effect "${asked.effect}" did not end when its run was cancelled; it may still be running`;
      end({ type: 'failed', failure: createFailure('CANCELLED', { message, sideEffect: 'possible' }) });
    };
    generation.atWork.add(giveUp);
    // It ends before Restate takes the attempt for dead and begins another one beside it.
    const stopTimer = generation.host.setup.clock.after(withinMs, () => {
      const message = `Effect "${asked.effect}" did not end within ${withinMs} ms; it may still be running`;
      const failure = createFailure('TIMEOUT', { origin: 'durable', message, sideEffect: 'possible' });
      abortLimit(limit, new DOMException(message, 'TimeoutError'));
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
  const context = { __proto__: lazySignal, runId, position, pending: inbox.pending, limit };
  return context as unknown as EffectContext; // The prototype brings the signal, which the compiler does not see.
}

// On a prototype that all calls share: a getter in a literal gives each object a shape of its own, which only a full
// collection frees, and with it everything the call has held.
const lazySignal = {
  get signal(): AbortSignal {
    return signalOf((this as unknown as { readonly limit: Limit }).limit); // Only ever used as the prototype above.
  },
};

function writeRecord(called: CalledText, end: EffectEnd, maxBytes: number): string {
  const text = written(called, end);
  // A character takes at most three bytes.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  const failure = createFailure('HISTORY_LIMIT', {
    origin: 'durable',
    message: `The outcome of "${called.effect}" takes ${bytes} bytes, but a step keeps at most ${maxBytes}`,
    sideEffect: 'possible',
  });
  return written(called, { type: 'failed', failure });
}

function written(called: CalledText, end: EffectEnd): string {
  try {
    return callText(called, end);
  } catch (thrown) {
    const flaw = jsonFlaw(end) ?? String(thrown);
    const message = `Only JSON crosses the durable port, but in the outcome of "${called.effect}" ${flaw}`;
    const failure = createFailure('INTERNAL', { message, sideEffect: 'possible' });
    return callText(called, { type: 'failed', failure });
  }
}

function noOutcome(effect: string, given: unknown): EffectEnd {
  const message = `Effect "${effect}" gave ${jsonFlaw(given) === undefined ? showJson(given) : typeof given} instead of an outcome`;
  return { type: 'failed', failure: createFailure('INTERNAL', { message }) };
}

/** The end of one call: that of its run, or of its own time. */
interface Limit {
  readonly run: AbortSignal;
  /** Made when it is asked for: a signal of its own takes longer than the rest of a step. */
  controller?: AbortController;
  stopListening?: Cancel;
  timedOut?: { readonly reason: unknown };
}

function signalOf(limit: Limit): AbortSignal {
  if (limit.controller !== undefined) return limit.controller.signal;
  const { run, timedOut } = limit;
  const controller = new AbortController();
  limit.controller = controller;
  if (timedOut === undefined) limit.stopListening = onAbort(run, () => controller.abort(run.reason));
  else controller.abort(timedOut.reason);
  return controller.signal;
}

function abortLimit(limit: Limit, reason: unknown): void {
  limit.timedOut = { reason };
  limit.controller?.abort(reason);
}
