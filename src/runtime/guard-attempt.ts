import { onAbort } from '../base/abort.ts';
import type { Cancel, Clock } from '../base/clock.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { emptyPartial } from '../model/model.ts';
import type { AttemptOptions, Model, ModelResponse } from '../model/model.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Timeouts } from '../model/timeouts.ts';
import { cancelledFailure } from './call-failures.ts';

interface GuardedOptions extends AttemptOptions {
  readonly timeouts: Timeouts;
  readonly clock: Clock;
}

// A model that keeps its contract ends by itself; the guard only speaks when it has not.
const graceMs = 250;

/**
 * One attempt that ends, whatever the model does: a model that rejects, hangs beyond its time or is deaf to the signal breaks
 * its contract, and still becomes a failure. What it says afterwards is not heard.
 */
export function guardAttempt(
  model: Model,
  request: ModelRequest,
  options: GuardedOptions,
): Promise<ModelResponse> {
  const { clock, signal, timeouts } = options;
  return new Promise((resolve) => {
    let cancelTimer: Cancel = () => undefined;
    const end = (response: ModelResponse): void => {
      cancelTimer();
      stopListening();
      resolve(response);
    };
    const fail = (failure: Failure): void => end({ type: 'failure', failure, partial: emptyPartial });
    cancelTimer = clock.after(timeouts.totalMs + graceMs, () => fail(deafFailure(model, timeouts.totalMs)));
    const stopListening = onAbort(signal, () => {
      cancelTimer();
      // The model hears the same signal and says what had arrived; only if it does not, we end without it.
      cancelTimer = clock.after(graceMs, () => fail(cancelledFailure(model)));
    });
    callSafely(model, request, options).then(end, (error: unknown) => fail(classifyFailure(error, 'model')));
  });
}

/** A model may throw at once instead of rejecting. */
async function callSafely(
  model: Model,
  request: ModelRequest,
  options: GuardedOptions,
): Promise<ModelResponse> {
  return model.call(request, options);
}

function deafFailure({ provider, name }: Model, totalMs: number): Failure {
  return createFailure('TIMEOUT', {
    origin: 'model',
    message: `The call to ${provider} (${name}) did not end within ${totalMs} ms, nor when it was told to`,
    sideEffect: 'possible',
    provider: { provider, model: name },
    context: { timeout: 'total' },
  });
}
