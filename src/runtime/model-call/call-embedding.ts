import { defined } from '../../base/defined.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { embedBatches } from '../../model/embed-all.ts';
import type { EmbedAllResponse } from '../../model/embed-all.ts';
import type { EmbeddingModel, EmbeddingResponse } from '../../model/embedding.ts';
import { withKeys } from '../../model/key-pool.ts';
import { countResent } from '../../model/request-note.ts';
import type { Timeouts } from '../../model/timeouts.ts';
import { addLedgers, emptyLedger, spentLimit } from '../../resilience/ledger.ts';
import type { Ledger, LedgerLimits } from '../../resilience/ledger.ts';
import { runAttempts } from './attempt-loop.ts';
import type { CallOptions } from './call-model.ts';
import { resolveLoopOptions, resolveTimeouts } from './call-policy.ts';
import type { CallTarget, LoopEvent, LoopOptions } from './call-target.ts';
import { checkEmbeddingCall } from './check-embedding-call.ts';
import { createDelivery } from './delivery.ts';
import { guardEmbedding } from './guard-embedding.ts';

/** What an embedding call can be given besides the texts. */
export interface EmbeddingCallOptions extends Omit<CallOptions, 'onEvent'> {
  /** Receives every attempt and every decision. What it throws, `callEmbedding` throws when the batch has ended. */
  readonly onEvent?: (event: LoopEvent) => void | Promise<void>;
}

/** All vectors, or a failure with those that were done; and what it took. */
export type EmbeddingOutcome = EmbedAllResponse & { readonly ledger: Ledger };

/**
 * Embeds any number of texts in batches, each retried by the policy; its deadline and its limits hold over all of them.
 * Resolves to a typed success or failure; what was done before a failure is kept, so that nothing is paid for twice. There
 * is no fallback: two models' vectors do not compare. Throws a `ConfigError` only for what can never work.
 *
 * @example
 * const outcome = await callEmbedding(openaiEmbedding('text-embedding-3-small'), texts);
 */
export async function callEmbedding(
  model: EmbeddingModel,
  texts: readonly string[],
  options: EmbeddingCallOptions = {},
): Promise<EmbeddingOutcome> {
  checkEmbeddingCall(model, texts, options);
  const timeouts = resolveTimeouts(options.policy?.timeouts);
  const { onEvent } = options;
  // Only events of the loop are emitted here: there is no answer that comes piece by piece.
  const delivery = onEvent && createDelivery((event) => onEvent(event as LoopEvent));
  const loopOptions = resolveLoopOptions({ ...options, onEvent: delivery?.event });
  const { clock, signal, limits, retry } = loopOptions;
  const startMs = clock.monotonicMs();
  const targetsOf = (batch: readonly string[]): readonly CallTarget<EmbeddingResponse>[] =>
    withKeys([model]).map((member) => targetOf(member, batch, { timeouts, loopOptions }));
  let ledger = emptyLedger;

  async function embed(batch: readonly string[]): Promise<EmbeddingResponse> {
    const leftMs = retry.deadlineMs - (clock.monotonicMs() - startMs);
    const spent = findSpent(model, { ledger, limits, leftMs, deadlineMs: retry.deadlineMs });
    if (spent !== undefined) return { type: 'failure', failure: spent };
    const ended = await runAttempts(targetsOf(batch), {
      ...loopOptions,
      retry: { ...retry, deadlineMs: leftMs },
      limits: remaining(limits, ledger),
    });
    ledger = addLedgers(ledger, ended.report.ledger);
    const maxMs = Math.max(0, startMs + retry.deadlineMs - clock.monotonicMs());
    await delivery?.settled({ clock, signal, maxMs });
    if (ended.type === 'success') return ended.value;
    return { type: 'failure', failure: ofEmbedding(ended.failure) };
  }

  const response = await embedBatches(model, texts, embed);
  return { ...response, ledger };
}

interface Spending {
  readonly ledger: Ledger;
  readonly limits: LedgerLimits;
  readonly leftMs: number;
  readonly deadlineMs: number;
}

/** Why the next batch must not be sent. */
function findSpent(
  { provider, name }: EmbeddingModel,
  { ledger, limits, leftMs, deadlineMs }: Spending,
): Failure | undefined {
  const facts = { origin: 'embedding', sideEffect: 'none', provider: { provider, model: name } } as const;
  const hint = 'The vectors of the texts before are in `done`; embed the rest in another call.';
  const limit = spentLimit(ledger, limits);
  if (limit !== undefined) {
    const message = `The next texts were not sent to ${provider} (${name}): the bound ${limit} (${limits[limit]}) is reached`;
    return createFailure('BUDGET_EXCEEDED', { ...facts, message, hint, context: { limit } });
  }
  if (leftMs > 0) return undefined;
  const message = `The next texts were not sent to ${provider} (${name}): the deadline of ${deadlineMs} ms has passed`;
  return createFailure('TIMEOUT', { ...facts, message, hint, context: { timeout: 'deadline' } });
}

/** What the batches before have left of the limits. */
function remaining({ maxRequests, maxTokens, maxCostUsd }: LedgerLimits, ledger: Ledger): LedgerLimits {
  const less = (limit: number | undefined, spent: number): number | undefined =>
    limit === undefined ? undefined : limit - spent;
  return {
    maxRequests: less(maxRequests, ledger.requests),
    maxTokens: less(maxTokens, ledger.inputTokens + ledger.outputTokens),
    maxCostUsd: less(maxCostUsd, ledger.costUsd),
  };
}

/** The loop speaks of models whatever it tries. */
function ofEmbedding(failure: Failure): Failure {
  return failure.origin === 'model'
    ? createFailure(failure.code, { ...failure, origin: 'embedding' })
    : failure;
}

interface TargetOptions {
  readonly timeouts: Timeouts;
  readonly loopOptions: LoopOptions;
}

function targetOf(
  model: EmbeddingModel,
  batch: readonly string[],
  { timeouts, loopOptions: { clock, signal } }: TargetOptions,
): CallTarget<EmbeddingResponse> {
  return {
    provider: model.provider,
    name: model.name,
    quotaKey: model.quotaKey,
    ...defined({ isNextKey: model.isNextKey }),
    attempt: async ({ leftMs }) => {
      const totalMs = Math.max(1, Math.min(timeouts.totalMs, leftMs));
      const value = await guardEmbedding(model, batch, { signal, clock, timeouts: { ...timeouts, totalMs } });
      const resent = countResent(value.notes);
      if (value.type === 'failure') {
        return { type: 'failure', failure: value.failure, canSplice: false, value, charge: { resent } };
      }
      const { usage, costUsd } = value.result;
      // Vectors cost nothing to write.
      const charge = { inputTokens: usage.inputTokens, outputTokens: 0, costUsd, resent };
      return { type: 'success', value, charge };
    },
  };
}
