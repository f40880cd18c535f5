import { createAborter, onAbort } from '../../base/abort.ts';
import type { Cancel, Clock } from '../../base/clock.ts';
import { isRecord } from '../../base/json.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { failureTraits } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { emptyPartial } from '../../model/model.ts';
import type { AttemptOptions, Model, ModelResponse } from '../../model/model.ts';
import type { ModelRequest } from '../../model/request.ts';
import { runOwned, warningOwner } from '../../model/stray-errors.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import type { Timeouts } from '../../model/timeouts.ts';
import { isTrustedCall } from '../../model/trusted-calls.ts';
import { cancelledFailure } from '../../resilience/call-failures.ts';

interface GuardedOptions extends AttemptOptions {
  readonly timeouts: Timeouts;
  readonly clock: Clock;
}

// A model that keeps its contract ends by itself; the guard only speaks when it has not.
const graceMs = 250;

/**
 * One attempt that ends, whatever the model does: a model that rejects, hangs beyond its time, ignores the signal or answers
 * with something else breaks its contract, and still becomes a failure. It is asked to stop, and what it says afterwards is
 * not heard.
 */
export function guardAttempt(
  model: Model,
  request: ModelRequest,
  options: GuardedOptions,
): Promise<ModelResponse> {
  if (isTrustedCall(model.call)) return model.call(request, options);
  const { clock, signal, timeouts, onPart } = options;
  return new Promise((resolve) => {
    let isOver = false;
    let cancelTimer: Cancel = () => undefined;
    let stopListening: Cancel = () => undefined;
    // Its own, so that a model without a sense of time is asked to stop as well.
    const controller = createAborter();
    const owner = warningOwner(`The model "${model.provider}/${model.name}"`);
    const end = (response: ModelResponse): void => {
      isOver = true;
      cancelTimer();
      stopListening();
      resolve(response);
    };
    const fail = (failure: Failure): void => {
      end({ type: 'failure', failure, partial: emptyPartial });
      runOwned(owner, () => controller.abort());
    };
    cancelTimer = clock.after(timeouts.totalMs + graceMs, () => fail(deafFailure(model, timeouts.totalMs)));
    stopListening = onAbort(signal, () => {
      cancelTimer();
      // The model says what had arrived; only if it does not, we end without it.
      cancelTimer = clock.after(graceMs, () => fail(cancelledFailure(model)));
      runOwned(owner, () => controller.abort(signal?.reason));
    });
    const guarded: AttemptOptions = {
      ...options,
      signal: controller.signal(),
      onPart: onPart && ((part: StreamPart) => (isOver ? undefined : onPart(part))),
    };
    try {
      runOwned(owner, () => model.call(request, guarded)).then(
        (response: unknown) => (isResponse(response) ? end(response) : fail(oddFailure(model))),
        (error: unknown) => fail(classifyFailure(error, 'model')),
      );
    } catch (error) {
      // A model may throw at once instead of rejecting.
      fail(classifyFailure(error, 'model'));
    }
  });
}

function isResponse(value: unknown): value is ModelResponse {
  if (!isRecord(value)) return false;
  if (value['type'] === 'success') return isRecord(value['result']) && isRecord(value['result']['usage']);
  const { failure, partial } = value;
  if (value['type'] !== 'failure' || !isRecord(failure) || !isRecord(partial)) return false;
  return Object.hasOwn(failureTraits, String(failure['code'])) && isRecord(failure['context']);
}

function deafFailure({ provider, name }: Model, totalMs: number): Failure {
  return createFailure('TIMEOUT', {
    origin: 'model',
    message: `The call to ${provider} (${name}) did not end within ${totalMs} ms, nor after it was aborted`,
    sideEffect: 'possible',
    provider: { provider, model: name },
    context: { timeout: 'total' },
  });
}

function oddFailure({ provider, name }: Model): Failure {
  return createFailure('INVALID_RESPONSE', {
    origin: 'model',
    message: `The model ${provider} (${name}) gave neither a success nor a failure, so it is not written as a Model must be`,
    retryable: false,
    sideEffect: 'possible',
    provider: { provider, model: name },
    hint: 'Run modelConformance() of rerail/testing on it.',
  });
}
