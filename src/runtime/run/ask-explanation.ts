import type { ErrorContext } from '../../agent/report/error-context.ts';
import { askForExplanation, readExplanation } from '../../agent/report/error-node.ts';
import type { ExplanationRequest } from '../../agent/report/error-node.ts';
import type { RunExplanation } from '../../agent/report/error-report.ts';
import type { Clock, Random } from '../../base/clock.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Model } from '../../model/model.ts';
import type { ModelRequest } from '../../model/request.ts';
import type { Timeouts } from '../../model/timeouts.ts';
import { chargeAttempt, emptyLedger } from '../../resilience/ledger.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import { runWithin } from '../tool-call/bounded-work.ts';
import { callModel } from '../model-call/call-model.ts';
import type { CallOutcome } from '../model-call/call-model.ts';
import type { Gates } from '../model-call/gates.ts';
import { asksNatively } from '../model-call/model-turn.ts';

/** What came of asking a model why a run ended, and what that used up. */
export type AskedExplanation = { readonly charge: Ledger } & (
  | { readonly type: 'explained'; readonly explanation: RunExplanation }
  /** It said something that does not stand in the record, or not in the form that was asked for. */
  | { readonly type: 'refused'; readonly problem: string }
  | { readonly type: 'failed'; readonly failure: Failure }
);

export interface AskOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly gates?: Gates;
  readonly random?: Random;
  readonly timeouts?: Timeouts;
  /** Shorter than the bound that there is in any case. */
  readonly timeoutMs?: number;
}

const maxMs = 20_000;
/** Of an answer. */
export const maxExplanationTokens = 500;

/** Asks one model once, for at most 20 s. Never rejects, and obeys the signal at once, whatever the model does. */
export async function askExplanation(
  model: Model,
  context: ErrorContext,
  options: AskOptions,
): Promise<AskedExplanation> {
  const end = await call(model, askForExplanation(context), options);
  if (end.type === 'threw')
    return { type: 'failed', failure: classifyFailure(end.thrown, 'model'), charge: emptyLedger };
  if (end.type !== 'returned') {
    const message = `${model.provider} (${model.name}) did not explain the run in time`;
    const failure = createFailure(end.type === 'aborted' ? 'CANCELLED' : 'TIMEOUT', {
      origin: 'model',
      message,
    });
    // It is unknown what it will have cost.
    return { type: 'failed', failure, charge: chargeAttempt(emptyLedger, { wasSent: true, isLost: true }) };
  }
  const { value: outcome } = end;
  const charge = outcome.report.ledger;
  if (outcome.type === 'failure') return { type: 'failed', failure: outcome.failure, charge };
  const read = readExplanation(outcome.result.text, context);
  if ('problem' in read) return { type: 'refused', problem: read.problem, charge };
  return { type: 'explained', explanation: { ...read, model: `${model.provider}/${model.name}` }, charge };
}

async function call(
  model: Model,
  request: ExplanationRequest,
  { clock, signal, gates, random, timeouts, timeoutMs: given = maxMs }: AskOptions,
): Promise<Awaited<ReturnType<typeof runWithin<CallOutcome>>>> {
  const timeoutMs = Math.min(maxMs, given);
  const controller = new AbortController();
  const retry = { maxAttempts: 1, maxWaitMs: 0, deadlineMs: timeoutMs };
  return runWithin(
    () =>
      callModel(model, requestFor(model, request), {
        policy: { retry, timeouts: { ...timeouts, totalMs: timeoutMs } },
        signal: controller.signal,
        clock,
        ...(gates === undefined ? {} : { gates }),
        ...(random === undefined ? {} : { random }),
      }),
    {
      clock,
      signal,
      timeoutMs,
      onInterrupt: () => controller.abort(),
      onLate: () => undefined,
    },
  );
}

function requestFor(model: Model, { instructions, prompt, form }: ExplanationRequest): ModelRequest {
  return {
    messages: [
      { role: 'system', content: instructions },
      { role: 'user', content: prompt },
    ],
    maxOutputTokens: maxExplanationTokens,
    // Where the provider holds answers to a form, it is handed over; the instructions describe it in any case.
    ...(asksNatively(model, false) ? { output: { name: 'explanation', schema: form } } : {}),
    ...(model.capabilities.reasoningEffort ? { reasoning: { effort: 'low' as const } } : {}),
  };
}
