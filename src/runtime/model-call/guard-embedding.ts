import { onAbort } from '../../base/abort.ts';
import type { Cancel, Clock } from '../../base/clock.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { checkEmbedding } from '../../model/check/check-vectors.ts';
import type { EmbeddingModel, EmbeddingResponse, EmbedOptions } from '../../model/embedding.ts';
import type { Timeouts } from '../../model/timeouts.ts';

interface GuardedOptions extends EmbedOptions {
  readonly timeouts: Timeouts;
  readonly clock: Clock;
}

// A model that keeps its contract ends by itself; the guard only speaks when it has not.
const graceMs = 250;

/**
 * One request that ends, whatever the model does: one that rejects, hangs, ignores the signal or answers with something
 * else than vectors breaks its contract, and still becomes a failure. It is asked to stop, and what it says afterwards is not
 * heard.
 */
export function guardEmbedding(
  model: EmbeddingModel,
  texts: readonly string[],
  options: GuardedOptions,
): Promise<EmbeddingResponse> {
  const { clock, signal, timeouts } = options;
  return new Promise((resolve) => {
    let cancelTimer: Cancel = () => undefined;
    let stopListening: Cancel = () => undefined;
    // Its own, so that a model without a sense of time is asked to stop as well.
    const controller = new AbortController();
    const end = (response: EmbeddingResponse): void => {
      cancelTimer();
      stopListening();
      resolve(response);
    };
    const fail = (failure: Failure): void => {
      end({ type: 'failure', failure });
      controller.abort();
    };
    cancelTimer = clock.after(timeouts.totalMs + graceMs, () => fail(deafFailure(model, timeouts.totalMs)));
    stopListening = onAbort(signal, () => {
      cancelTimer();
      cancelTimer = clock.after(graceMs, () => fail(cancelledFailure(model)));
      controller.abort(signal?.reason);
    });
    // Inside a promise, for a model may throw at once instead of rejecting.
    new Promise<EmbeddingResponse>((answer) =>
      answer(model.embed(texts, { ...options, signal: controller.signal })),
    )
      .then((response) => end(checkEmbedding(response, { model, count: texts.length })))
      .catch((error: unknown) => fail(classifyFailure(error, 'embedding')));
  });
}

function deafFailure({ provider, name }: EmbeddingModel, totalMs: number): Failure {
  return createFailure('TIMEOUT', {
    origin: 'embedding',
    message: `The call to ${provider} (${name}) did not end within ${totalMs} ms, nor after it was aborted`,
    sideEffect: 'possible',
    provider: { provider, model: name },
    context: { timeout: 'total' },
  });
}

function cancelledFailure({ provider, name }: EmbeddingModel): Failure {
  return createFailure('CANCELLED', {
    origin: 'embedding',
    message: `The call to ${provider} (${name}) was cancelled`,
    sideEffect: 'possible',
    provider: { provider, model: name },
  });
}
