import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import { cancelledError } from '../../runtime/record/durable-errors.ts';
import type { Effect, EffectEnd, EngineSetup } from '../../runtime/record/durable.ts';
import { jsonFlaw } from '../../runtime/model-call/json-compare.ts';
import type { EffectRequest } from './messages.ts';
import type { Mirror } from './mirror.ts';

interface Performance {
  readonly setup: Pick<EngineSetup, 'effects' | 'clock'>;
  /** Of the activity. */
  readonly signal: AbortSignal;
  readonly maxValueBytes: number;
}

/** Performs one effect. Never rejects: whatever goes wrong is what came of it. */
export async function performEffect(
  mirror: Mirror,
  request: EffectRequest,
  { setup, signal, maxValueBytes }: Performance,
): Promise<EffectEnd> {
  const { effect, timeoutMs } = request;
  const work = Object.hasOwn(setup.effects, effect) ? setup.effects[effect] : undefined;
  if (work === undefined) return failed('INTERNAL', `This worker has no effect "${effect}"`);
  const controller = new AbortController();
  const stopListening = onAbort(signal, () =>
    controller.abort(cancelledError(mirror.runId, 'Temporal has cancelled the activity')),
  );
  mirror.controllers.add(controller);
  const watch = createWatch(setup.clock, { effect, timeoutMs, controller });
  try {
    const end = await Promise.race([attempt(mirror, request, { work, controller }), watch.ended]);
    return bounded(effect, end, maxValueBytes);
  } finally {
    watch.release();
    stopListening();
    mirror.controllers.delete(controller);
  }
}

interface Attempt {
  readonly work: Effect;
  readonly controller: AbortController;
}

async function attempt(
  { runId, pending }: Mirror,
  { effect, input, position }: EffectRequest,
  { work, controller }: Attempt,
): Promise<EffectEnd> {
  try {
    const end = await work(input, {
      runId,
      position,
      signal: controller.signal,
      pending: (name) =>
        [...pending.values()].flatMap(({ name: own, id, payload }) =>
          own === name ? [{ id, payload }] : [],
        ),
    });
    if (end?.type === 'done' || end?.type === 'failed') return end;
    return failed('INTERNAL', `Effect "${effect}" gave ${typeof end} instead of an outcome`);
  } catch (thrown) {
    return { type: 'failed', failure: classifyFailure(thrown, 'agent') };
  }
}

/** As it will stand in the history. */
function bounded(effect: string, end: EffectEnd, maxBytes: number): EffectEnd {
  try {
    const text = JSON.stringify(end);
    const bytes = Buffer.byteLength(text);
    if (bytes <= maxBytes) return JSON.parse(text) as EffectEnd; // As it was before it was written.
    return failed(
      'HISTORY_LIMIT',
      `The outcome of "${effect}" takes ${bytes} bytes, but a step keeps at most ${maxBytes}`,
    );
  } catch (thrown) {
    const flaw = jsonFlaw(end) ?? String(thrown);
    return failed(
      'INTERNAL',
      `Only JSON crosses the durable port, but in the outcome of "${effect}" ${flaw}`,
    );
  }
}

function failed(code: 'INTERNAL' | 'HISTORY_LIMIT' | 'TIMEOUT', message: string): EffectEnd {
  const origin = code === 'INTERNAL' ? {} : { origin: 'durable' as const };
  return { type: 'failed', failure: createFailure(code, { message, sideEffect: 'possible', ...origin }) };
}

interface Watched {
  readonly effect: string;
  readonly timeoutMs: number | undefined;
  readonly controller: AbortController;
}

function createWatch(
  clock: Clock,
  { effect, timeoutMs, controller }: Watched,
): { readonly ended: Promise<EffectEnd>; readonly release: () => void } {
  if (timeoutMs === undefined) return { ended: new Promise(() => undefined), release: () => undefined };
  let release = (): void => undefined;
  const ended = new Promise<EffectEnd>((resolve) => {
    release = clock.after(timeoutMs, () => {
      const message = `Effect "${effect}" did not end within ${timeoutMs} ms; it may still be running`;
      resolve(failed('TIMEOUT', message));
      controller.abort(new DOMException(message, 'TimeoutError'));
    });
  });
  return { ended, release: () => release() };
}
