import { onAbort } from '../../base/abort.ts';
import { assert } from '../../base/assert.ts';
import { completeTimeouts } from '../../model/stream-watch.ts';
import { attemptStream } from '../../providers/ai-sdk/attempt.ts';
import type { AiSdkRecord } from '../../providers/ai-sdk/language-model.ts';
import { toAiSdkError } from '../../providers/ai-sdk/to-ai-sdk-error.ts';
import { runAttempts } from '../../runtime/model-call/attempt-loop.ts';
import { timeoutsOf } from '../../runtime/model-call/model-target.ts';
import { sightOf, toAttempted } from './attempted.ts';
import { createOutlet } from './outlet.ts';
import type { Outlet } from './outlet.ts';
import { asksNextOnFilter, signalOf, startCall, targetsOf } from './resilient-call.ts';
import type { Wrapped } from './resilient-call.ts';

/**
 * One stream out of as many attempts as it takes. Until something of an answer has been handed on, a failed attempt leaves no
 * trace in it; from then on a failure ends it with an error part, for what was read cannot be taken back. Rejects where no
 * answer was begun at all, as a model's own `doStream` would.
 */
export function streamResiliently(wrapped: Wrapped, callOptions: AiSdkRecord): Promise<AiSdkRecord> {
  return new Promise((resolve, reject) => {
    const consumer = new AbortController();
    const caller = signalOf(callOptions);
    const stopListening = onAbort(caller, () => consumer.abort(caller?.reason));
    const outlet = createOutlet({
      onOpen: (result) => resolve(result),
      onCancel: () => consumer.abort(),
      holdsAll: wrapped.policy.delivery === 'whole',
    });
    const fail = (error: unknown): void => {
      if (!outlet.fail(error)) reject(error);
    };
    void run(wrapped, callOptions, { outlet, signal: consumer.signal })
      .then((failed) => (failed === undefined ? undefined : fail(failed)), fail)
      .finally(stopListening);
  });
}

interface Scope {
  readonly outlet: Outlet;
  readonly signal: AbortSignal;
}

/** The error, where all attempts failed. */
async function run(
  wrapped: Wrapped,
  callOptions: AiSdkRecord,
  { outlet, signal }: Scope,
): Promise<Error | undefined> {
  const { loopOptions, settled } = startCall(wrapped.policy, signal);
  const targets = targetsOf(wrapped, async (model, context) => {
    let hasContent = false;
    const outcome = await attemptStream(model, callOptions, {
      signal,
      clock: loopOptions.clock,
      timeouts: timeoutsOf(completeTimeouts(wrapped.policy.timeouts), context),
      onResult: outlet.begin,
      onPart: (part, read) => {
        const sight = sightOf(read);
        hasContent ||= sight === 'content' || sight === 'call';
        return outlet.part(part, sight);
      },
    });
    return toAttempted(model, outcome, {
      hasContent,
      isFinal: outlet.isOpen(),
      asksNextOnFilter: asksNextOnFilter(wrapped, model),
    });
  });
  const ended = await runAttempts(targets, loopOptions);
  await settled();
  if (ended.type === 'failure') return toAiSdkError(ended.failure);
  assert(ended.value.type === 'success', 'A call that succeeded has the result of its attempt');
  outlet.finish(ended.value.finishPart);
  return undefined;
}
