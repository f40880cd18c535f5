import { messagesOf } from '../../agent/turn/history.ts';
import type { RunState } from '../../agent/state.ts';
import type { Json } from '../../base/json.ts';
import { describeThrown } from '../../errors/classify/safe-read.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Message } from '../../model/message.ts';
import type { Model } from '../../model/model.ts';
import { showValue } from '../../model/check/show-value.ts';
import { ownerNamed } from '../../model/stray-errors.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { EffectEnd } from '../record/durable.ts';
import { callHook } from '../hooks/hook-call.ts';
import { publish } from './live-run.ts';
import type { Performing } from '../perform.ts';
import type { LiveRun } from './live-run.ts';

/**
 * Chooses the model that a call begins with, among those of `model`. Called in a durable step before each call of a model, so its answer is
 * on record and a resume does not call it again for the same step. It has 10 s.
 *
 * @example selectModel: ({ turn, models: [small, large] }) => (turn === 1 ? large : small)
 */
export type SelectModel = (
  call: ModelCallView,
  context: { readonly signal: AbortSignal },
) => Model | Promise<Model>;

/** A call that is about to be made. */
export interface ModelCallView {
  readonly runId: string;
  /** From 1. */
  readonly turn: number;
  /** The conversation without the instructions. */
  readonly messages: readonly Message[];
  /** The agent's models in their order, without further keys. */
  readonly models: readonly Model[];
  /** What the run has used up so far. */
  readonly usedTokens: number;
  readonly usedCostUsd: number;
}

/** Whether a function chooses the model: as it was, where that is on record. It is asked once per call. */
export function needsSelection({ parts, live, durable }: Performing): boolean {
  const recorded = durable.upcoming?.();
  if (recorded !== undefined) return recorded.effect === 'select';
  const { phase } = live.state as RunState; // Only a run that has begun calls a model.
  return parts.selectModel !== undefined && phase.type === 'calling-model' && phase.selected === undefined;
}

const maxSelectMs = 10_000;

/** Asks the caller's function. What it throws, and what is no model of the agent, is a failure of the run. */
export async function performSelectEffect(
  parts: AgentParts,
  live: LiveRun,
  { turn, signal }: { readonly turn: number; readonly signal: AbortSignal },
): Promise<EffectEnd> {
  const { models, clock, strayErrors, selectModel } = parts;
  const { runId } = live;
  const { history, ledger } = live.state as RunState; // Only a run that has begun calls a model.
  const offered: readonly Model[] = models.filter(({ isNextKey }) => isNextKey !== true);
  // Copies: the function may change what it is given, and the conversation must stay what is on record.
  const view: ModelCallView = {
    runId,
    turn,
    messages: structuredClone(messagesOf(history)),
    models: offered.slice(),
    usedTokens: ledger.inputTokens + ledger.outputTokens,
    usedCostUsd: ledger.costUsd,
  };
  const startMs = clock.monotonicMs();
  const report = (failure: Failure): void =>
    publish(live, { type: 'hook-failed', hook: 'selectModel', point: 'before-model', failure });
  const owner = ownerNamed('The function "selectModel"', { strayErrors, report });
  const timeoutMs = maxSelectMs;
  const end = await callHook((context) => selectModel?.(view, context), { clock, timeoutMs, signal, owner });
  if (end.type === 'aborted') throw signal.reason;
  if (end.type === 'threw') return failed(`threw: ${describeThrown(end.thrown)}`, end.thrown);
  if (end.type === 'timed-out') return failed(`gave no answer within ${maxSelectMs / 1000} s`);
  const target = offered.includes(end.answer as Model) ? models.indexOf(end.answer as Model) : -1; // Compared, not used.
  if (target === -1) return failed(`gave ${showValue(end.answer)}, which is none of the agent's models`);
  const value: Json = { target, tookMs: clock.monotonicMs() - startMs };
  return { type: 'done', value };
}

function failed(why: string, cause?: unknown): EffectEnd {
  const failure = createFailure('HOOK_FAILED', {
    origin: 'hook',
    message: `The function "selectModel" ${why}`,
    hint: 'Return one of the models that it is given in "models", then resume the run.',
    context: { hook: 'selectModel' },
    cause,
  });
  return { type: 'failed', failure };
}
