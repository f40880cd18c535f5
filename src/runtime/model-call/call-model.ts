import type { Clock, Random } from '../../base/clock.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { checkRequest } from '../../model/check/check-request.ts';
import { emptyPartial } from '../../model/model.ts';
import type { Model, ModelResponse, ModelResult } from '../../model/model.ts';
import type { ModelRequest } from '../../model/request.ts';
import type { CallReport } from '../../resilience/call-report.ts';
import { runAttempts } from './attempt-loop.ts';
import { resolveLoopOptions, resolveTimeouts } from './call-policy.ts';
import type { CallPolicy } from './call-policy.ts';
import type { LoopEvent } from './call-target.ts';
import { checkModels } from '../check-models.ts';
import { checkCallOptions } from './check-options.ts';
import { createDelivery } from './delivery.ts';
import type { DeliveryEvent } from './delivery.ts';
import type { Gates } from './gates.ts';
import { createModelTarget } from './model-target.ts';

/** What a call can be given besides the request. */
export interface CallOptions {
  readonly policy?: CallPolicy;
  readonly signal?: AbortSignal;
  /** Receives the answer while it comes, and every decision. What it throws, `callModel` throws when the attempt has ended. */
  readonly onEvent?: (event: CallEvent) => void | Promise<void>;
  /** What calls of the same provider and key share; the process' own by default. */
  readonly gates?: Gates;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** What a call reports while it lasts. The text, assembled by these events, equals the result's text. */
export type CallEvent = LoopEvent | DeliveryEvent;

/** A typed success or a typed failure, and how it came about. */
export type CallOutcome = ModelResponse & { readonly report: CallReport };

/**
 * Calls a model, or the first of several that answers. Retries, waits, breaks, falls back and ends by its policy. Resolves
 * to a typed success or failure; throws a `ConfigError` only for what can never work: a policy or a request that makes no
 * sense, or a feature that one of the models lacks.
 *
 * @example
 * const outcome = await callModel([anthropic('claude-sonnet-5'), openai('gpt-5.2')], { messages });
 * if (outcome.type === 'success') print(outcome.result.text);
 */
export async function callModel(
  models: Model | readonly Model[],
  request: ModelRequest,
  options: CallOptions = {},
): Promise<CallOutcome> {
  checkCallOptions(options);
  const chain = checkChain(models, request);
  const timeouts = resolveTimeouts(options.policy?.timeouts);
  const delivery = options.onEvent === undefined ? undefined : createDelivery(options.onEvent);
  const loopOptions = resolveLoopOptions({ ...options, onEvent: delivery?.event });
  const { clock, signal } = loopOptions;
  const targets = chain.map((model) =>
    createModelTarget(model, { request, timeouts, delivery, clock, signal }),
  );
  const dueMs = clock.monotonicMs() + loopOptions.retry.deadlineMs;
  const ended = await runAttempts(targets, loopOptions);
  if (delivery !== undefined) {
    await delivery.settled({ clock, signal, maxMs: Math.max(0, dueMs - clock.monotonicMs()) });
  }
  const { report } = ended;
  if (ended.type === 'failure') {
    return { type: 'failure', failure: ended.failure, partial: ended.value ?? emptyPartial, report };
  }
  return { type: 'success', result: ended.value as ModelResult, report }; // The value of a success is whole.
}

function checkChain(models: Model | readonly Model[], request: ModelRequest): readonly Model[] {
  const chain = checkModels(models);
  for (const model of chain) {
    const failure = checkRequest(model, request);
    if (failure !== undefined) throw RerailError.from(failure);
  }
  return chain;
}
