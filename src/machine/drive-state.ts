import { assert } from '../base/assert.ts';
import { fingerprint } from '../base/hash.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import type { Answer, MachineEvent } from '../agent/event.ts';
import { messagesOf } from '../agent/turn/history.ts';
import { continueMessage } from '../agent/notes.ts';
import type { Calling, CallState, RunState } from '../agent/state.ts';
import type { ToolEnd } from '../agent/tools/tool-call.ts';
import { attemptOf } from '../agent/turn/turn.ts';
import { checkOptions } from '../model/check/check-options.ts';
import type { ModelResponse, PartialResult } from '../model/model.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Tool } from '../model/tool.ts';
import { readCount } from '../model/usage.ts';
import { chargeEnd } from '../resilience/call-progress.ts';
import type { AttemptSituation, Charge, StepEnd } from '../resilience/call-progress.ts';
import { decideNext } from '../resilience/decide.ts';
import type { Decision } from '../resilience/decide.ts';
import { countPace, kindOf } from '../resilience/failure-kind.ts';
import { spentLimit } from '../resilience/ledger.ts';
import { addCallIds } from '../runtime/model-call/distinct-call-ids.ts';
import { systemOf } from '../runtime/record/lent-messages.ts';
import { withdrawnNames } from '../runtime/model-call/model-turn.ts';
import { prepareCalls } from '../runtime/model-call/prepare-calls.ts';
import { writeAsRead } from '../runtime/model-call/repair-answer.ts';
import { createToolRegistry } from '../runtime/tool-call/tool-registry.ts';

/** What a request has besides the conversation. */
export interface RequestOptions {
  readonly instructions?: string;
  readonly tools?: readonly Tool[];
}

/** The request for a `call-model` action. */
export function requestOf(state: RunState, options: RequestOptions = {}): ModelRequest {
  checkOptions({ of: 'requestOf()', rules: ['instructions', 'tools'] }, options);
  const { instructions = '', tools = [] } = options;
  const calling = callingOf(state);
  const registry = createToolRegistry(tools);
  const left = registry.without(withdrawnNames(state));
  const isFree = calling.salvage === undefined && left.length > 0;
  return {
    messages: [
      ...systemOf(instructions),
      ...messagesOf(state.history),
      ...(calling.base === ''
        ? []
        : [{ role: 'assistant', content: calling.base } as const, continueMessage]),
    ],
    ...(tools.length > 0 && { tools: left.length > 0 ? left : registry.definitions }),
    ...(tools.length > 0 && !isFree && { toolChoice: 'none' as const }),
  };
}

/** Time and chance, which the machine does not know by itself. */
export interface EventFacts {
  /** How long it took. Default: 0. */
  readonly tookMs?: number;
  /** In [0, 1): spreads waits. Default: 0.5. */
  readonly drawn?: number;
}

/** The event of a model that has answered or failed. The policy of the definition decides what follows a failure. */
export async function modelFinished(
  state: RunState,
  response: ModelResponse,
  facts: EventFacts & {
    readonly tools?: readonly Tool[];
    /** Milliseconds since 1970. */
    readonly wallMs: number;
  },
): Promise<MachineEvent> {
  const calling = callingOf(state);
  const { tookMs: durationMs = 0, drawn = 0.5, wallMs, tools = [] } = facts;
  const result = response.type === 'success' ? response.result : response.partial;
  const charge = chargeOf(result);
  const times = { charge, isProbe: false, waitedMs: 0, durationMs, wallMs };
  if (response.type === 'success') {
    const value = await prepare(state, result, tools);
    return { type: 'attempt-finished', step: { ...times, type: 'success', value } };
  }
  const { failure } = response;
  const asked = attemptOf(state, calling, false);
  assert(asked.type === 'call-model', 'An attempt is a call of a model');
  const decision = decide(state, asked.situation, { failure, charge, durationMs, drawn });
  const step: StepEnd<Answer> = {
    ...times,
    type: 'failure',
    failure,
    value: result,
    canSplice: false,
    decision,
    wasAdmitted: true,
  };
  return { type: 'attempt-finished', step };
}

interface Failed {
  readonly failure: Extract<ModelResponse, { type: 'failure' }>['failure'];
  readonly charge: Charge;
  readonly durationMs: number;
  readonly drawn: number;
}

function decide({ config }: RunState, situation: AttemptSituation, failed: Failed): Decision {
  const { failure, charge, durationMs, drawn } = failed;
  const { maxTokens, maxCostUsd, maxRequests } = config.limits;
  return decideNext(
    {
      failure,
      attempts: situation.tries + 1,
      sameKindBefore: situation.kinds[kindOf(failure)] ?? 0,
      samePaceBefore: countPace(situation.kinds, failure),
      tookMs: durationMs,
      leftMs: situation.leftMs - durationMs,
      drawn,
      // There is no gate that others share.
      spendRetry: () => true,
      hasNextModel: situation.hasNextModel,
      hasNextKey: situation.hasNextKey,
      spentLimit: spentLimit(chargeEnd(situation.ledger, charge, failure), {
        maxTokens,
        maxCostUsd,
        maxRequests,
      }),
    },
    { retry: config.retry, fallBackOnFilter: false },
  );
}

function chargeOf({ usage, costUsd }: PartialResult): Charge {
  return { inputTokens: readCount(usage.inputTokens), outputTokens: readCount(usage.outputTokens), costUsd };
}

async function prepare(state: RunState, result: PartialResult, tools: readonly Tool[]): Promise<Answer> {
  if (result.toolCalls.length === 0) return result;
  const { limits } = state.config;
  const takenIds = new Set<string>();
  addCallIds(takenIds, messagesOf(state.history));
  const prepared = await prepareCalls(result.toolCalls, {
    registry: createToolRegistry(tools),
    decidePermission: ({ permission }) => ({ permission }),
    withdrawn: new Map(Object.entries(state.withdrawn).map(([name, { reason }]) => [name, reason])),
    maxCallsPerTurn: limits.maxCallsPerTurn,
    callsLeft: Math.max(0, limits.maxToolCalls - state.toolCalls),
    takenIds,
  });
  return { ...writeAsRead(result, prepared), prepared };
}

/** A call of the turn, for a `run-tools`, `verify-tools` or `ask-person` action. */
export function callOf(state: RunState, index: number): CallState['call'] {
  const { phase } = state;
  const held = 'tools' in phase ? phase.tools : undefined;
  const tools = phase.type === 'running-tools' ? phase : held;
  const call = tools?.calls[index]?.call;
  assert(call !== undefined, `There is no call ${index} in the phase "${phase.type}"`);
  return call;
}

/** How one call went: what it returned as the model reads it, or what it threw. */
export type CallResult =
  { readonly index: number; readonly content: string } | { readonly index: number; readonly error: unknown };

/** The event of calls that have been run. An error is classified as one of a tool. */
export function toolsFinished(
  state: RunState,
  results: readonly CallResult[],
  { tookMs = 0, drawn = 0.5 }: EventFacts = {},
): MachineEvent {
  const ends = results.map((result) => ({ index: result.index, drawn, end: endOf(state, result, tookMs) }));
  return { type: 'tools-finished', tookMs, ends };
}

function endOf(state: RunState, result: CallResult, durationMs: number): ToolEnd {
  const { callId, name } = callOf(state, result.index);
  const base = { callId, name, durationMs };
  if ('content' in result) {
    const { content } = result;
    return { ...base, type: 'ok', content, resultHash: fingerprint(content) };
  }
  const effect = state.config.tools[name]?.effect;
  const found = classifyFailure(result.error, 'tool');
  const failure = {
    ...found,
    sideEffect: found.sideEffect ?? (effect === 'read' ? 'none' : 'possible'),
  } as const;
  return {
    ...base,
    type: 'failed',
    content: failure.message,
    failure,
    resultHash: fingerprint(failure.message),
  };
}

function callingOf({ phase }: RunState): Calling {
  assert(phase.type === 'calling-model', `No model is asked in the phase "${phase.type}"`);
  return phase;
}
