import { embedAll } from '../model/embed-all.ts';
import type { EmbedAllResponse } from '../model/embed-all.ts';
import type { EmbeddingModel, EmbeddingResponse } from '../model/embedding.ts';
import { addLedgers, emptyLedger } from '../resilience/ledger.ts';
import type { Ledger } from '../resilience/ledger.ts';
import { runAttempts } from './attempt-loop.ts';
import type { CallOptions } from './call-model.ts';
import { resolveLoopOptions, resolveTimeouts } from './call-policy.ts';
import type { CallTarget, LoopEvent, LoopOptions } from './call-target.ts';
import type { Timeouts } from '../model/timeouts.ts';

/** What an embedding call can be given besides the texts. */
export interface EmbeddingCallOptions extends Omit<CallOptions, 'onEvent'> {
  /** Hears every attempt and every decision. */
  readonly onEvent?: (event: LoopEvent) => void;
}

/** All vectors, or a failure with those that were done; and what it took. */
export type EmbeddingOutcome = EmbedAllResponse & { readonly ledger: Ledger };

/**
 * Embeds any number of texts in batches, each retried by the policy. Resolves to a typed success or failure; what was done
 * before a failure is kept, so that nothing is paid for twice. There is no fallback: two models' vectors do not compare.
 *
 * @example
 * const outcome = await callEmbedding(openaiEmbedding('text-embedding-3-small'), texts);
 */
export async function callEmbedding(
  model: EmbeddingModel,
  texts: readonly string[],
  options: EmbeddingCallOptions = {},
): Promise<EmbeddingOutcome> {
  const loopOptions = resolveLoopOptions(options);
  const timeouts = resolveTimeouts(options.policy?.timeouts);
  const startMs = loopOptions.clock.monotonicMs();
  let ledger = emptyLedger;
  const patient: EmbeddingModel = {
    ...model,
    embed: async (batch) => {
      // One deadline and one ledger for all batches.
      const spentMs = loopOptions.clock.monotonicMs() - startMs;
      const deadlineMs = Math.max(1, loopOptions.retry.deadlineMs - spentMs);
      const ended = await runAttempts([targetOf(model, batch, { timeouts, loopOptions })], {
        ...loopOptions,
        retry: { ...loopOptions.retry, deadlineMs },
      });
      ledger = addLedgers(ledger, ended.report.ledger);
      if (ended.type === 'failure') return { type: 'failure', failure: ended.failure };
      return ended.value;
    },
  };
  const response = await embedAll(patient, texts);
  return { ...response, ledger };
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
    attempt: async ({ leftMs }) => {
      const totalMs = Math.max(1, Math.min(timeouts.totalMs, leftMs));
      const value = await model.embed(batch, { signal, clock, timeouts: { ...timeouts, totalMs } });
      if (value.type === 'failure') {
        return { type: 'failure', failure: value.failure, canSplice: false, value, charge: {} };
      }
      const { usage, costUsd } = value.result;
      // Vectors cost nothing to write.
      return { type: 'success', value, charge: { inputTokens: usage.inputTokens, outputTokens: 0, costUsd } };
    },
  };
}
