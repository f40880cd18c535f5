// Table: what each event of a run means to its spans.
import { clean } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { RunEvent } from '../agent/run-event.ts';
import type { RunOutcome } from '../agent/run-outcome.ts';
import { contentText, messagesText } from './content.ts';
import { attributes, spanEvents } from './genai-names.ts';
import { beginChat, beginTool, cleanName, endOpenSpans, endSpan, take } from './run-spans.ts';
import type { RunSpans } from './run-spans.ts';
import type { SpanAttributes } from './telemetry-api.ts';

type OfType<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

/** What is done about an event of a run whose span is open; nothing where the event tells a trace nothing. */
export type SpanRules = {
  readonly [Type in RunEvent['type']]: ((run: RunSpans, event: OfType<Type>) => void) | undefined;
};

/** A new type of event does not compile until it stands here. */
export const spanRules = {
  'run-started': (run, { input }) => {
    if (run.recordContent) run.agent.setAttributes({ [attributes.inputMessages]: messagesText(input) });
  },
  'run-resumed': (run) => run.agent.setAttributes({ [attributes.isResumed]: true }),
  'turn-started': undefined,
  'attempt-started': (run, { turn, attempt, provider, model, isProbe }) =>
    beginChat(run, turn, {
      provider,
      model,
      given: { [attributes.attempt]: attempt, ...(isProbe ? { [attributes.isProbe]: true } : {}) },
    }),
  'text-delta': undefined,
  'text-retracted': undefined,
  'reasoning-delta': undefined,
  'tool-call-started': undefined,
  'tool-call-delta': undefined,
  'model-finished': (run, event) => endSpan(take(run.chats, event.turn), modelAttributes(event)),
  'tool-started': (run, { callId, name, turn, attempt, input }) =>
    beginTool(run, callId, {
      name,
      given: {
        [attributes.turn]: turn,
        [attributes.attempt]: attempt,
        ...(run.recordContent ? { [attributes.toolArguments]: contentText(input) } : {}),
      },
    }),
  'tool-progress': undefined,
  'tool-finished': (run, { callId, end }) =>
    endSpan(
      take(run.tools, callId),
      {
        [attributes.toolEnd]: end.type,
        ...(run.recordContent ? { [attributes.toolResult]: contentText(end.content) } : {}),
      },
      end.failure,
    ),
  'tool-late': (run, { turn, name, afterMs }) =>
    addEvent(run, spanEvents.toolLate, {
      [attributes.turn]: turn,
      [attributes.toolName]: cleanName(name),
      [attributes.afterMs]: afterMs,
    }),
  'tool-warning': (run, { turn, name, warning }) =>
    addEvent(run, spanEvents.toolWarning, {
      [attributes.turn]: turn,
      [attributes.toolName]: cleanName(name),
      [attributes.reason]: warning,
    }),
  'arguments-repaired': (run, { turn, name }) =>
    addEvent(run, spanEvents.argumentsRepaired, {
      [attributes.turn]: turn,
      [attributes.toolName]: cleanName(name),
    }),
  failure: (run, { turn, failure }) => {
    if (endFailedChat(run, turn, failure)) return;
    addEvent(run, spanEvents.failure, { [attributes.turn]: turn, [attributes.errorType]: failure.code });
  },
  recovery: (run, { turn, failure, recovery, reason, delayMs }) => {
    endFailedChat(run, turn, failure);
    addEvent(run, recovery === 'retry' ? spanEvents.retry : spanEvents.recovery, {
      [attributes.turn]: turn,
      [attributes.recovery]: recovery,
      [attributes.errorType]: failure.code,
      [attributes.reason]: clean(reason, maxReasonLength),
      [attributes.delayMs]: delayMs,
    });
  },
  'breaker-changed': (run, { provider, from, to }) =>
    addEvent(run, spanEvents.breakerChanged, {
      [attributes.provider]: cleanName(provider),
      [attributes.breakerFrom]: from,
      [attributes.breakerTo]: to,
    }),
  'request-noted': undefined,
  'breaker-awaited': undefined,
  'tool-withdrawn': (run, { turn, name, reason }) =>
    addEvent(run, spanEvents.toolWithdrawn, {
      [attributes.turn]: turn,
      [attributes.toolName]: cleanName(name),
      [attributes.reason]: clean(reason, maxReasonLength),
    }),
  'tool-restored': (run, { turn, name }) =>
    addEvent(run, spanEvents.toolRestored, {
      [attributes.turn]: turn,
      [attributes.toolName]: cleanName(name),
    }),
  'history-repaired': (run) => addEvent(run, spanEvents.historyRepaired, {}),
  'history-selected': (run) => addEvent(run, spanEvents.historySelected, {}),
  // Only streams have it, and no span is made from one.
  'events-dropped': undefined,
  'agent-changed': (run) => addEvent(run, spanEvents.agentChanged, {}),
  'storage-failed': (run, { failure }) =>
    addEvent(run, spanEvents.storageFailed, { [attributes.errorType]: failure.code }),
  'storage-restored': (run) => addEvent(run, spanEvents.storageRestored, {}),
  'history-compacted': (run, { turn, strategy, tokensBefore, tokensAfter }) =>
    addEvent(run, spanEvents.historyCompacted, {
      [attributes.turn]: turn,
      [attributes.strategy]: strategy,
      [attributes.savedTokens]: tokensBefore - tokensAfter,
    }),
  'messages-injected': undefined,
  'limit-reached': (run, { turn, limit, reason }) =>
    addEvent(run, spanEvents.limitReached, {
      [attributes.turn]: turn,
      [attributes.limit]: limit,
      [attributes.stopReason]: reason,
    }),
  'approval-requested': (run, { request }) =>
    addEvent(run, spanEvents.approvalRequested, {
      [attributes.toolName]: 'tool' in request ? cleanName(request.tool) : undefined,
    }),
  'approval-answered': (run, { verdict }) =>
    addEvent(run, spanEvents.approvalAnswered, { [attributes.reason]: cleanName(verdict) }),
  'hook-failed': (run, { hook, point, failure }) =>
    addEvent(run, spanEvents.hookFailed, {
      [attributes.hook]: cleanName(hook),
      [attributes.hookPoint]: point,
      [attributes.errorType]: failure.code,
    }),
  // The run below has spans of its own.
  'child-event': () => undefined,
  'run-suspended': (run, { reason }) =>
    addEvent(run, spanEvents.suspended, { [attributes.stopReason]: reason }),
  // It is part of the outcome, and nothing that anybody measures.
  explained: undefined,
  'run-finished': (run, { outcome }) => {
    try {
      endOpenSpans(run);
    } finally {
      endSpan(run.agent, outcomeAttributes(run, outcome), failureOf(outcome));
    }
  },
} satisfies SpanRules;

const maxReasonLength = 500;

function addEvent(run: RunSpans, name: string, given: SpanAttributes): void {
  run.agent.addEvent(name, given);
}

/** An attempt that failed is told as the failure of its turn; whether there was one to end. */
function endFailedChat(run: RunSpans, turn: number, failure: Failure): boolean {
  if (failure.origin !== 'model') return false;
  const chat = take(run.chats, turn);
  endSpan(chat, {}, failure);
  return chat !== undefined;
}

function modelAttributes(event: OfType<'model-finished'>): SpanAttributes {
  const { servedBy, model, responseId, finishReason, inputTokens, outputTokens, costUsd } = event;
  return {
    [attributes.responseModel]: cleanName(servedBy ?? model),
    [attributes.responseId]: responseId === undefined ? undefined : cleanName(responseId),
    [attributes.finishReasons]: finishReason === undefined ? undefined : [cleanName(finishReason)],
    [attributes.inputTokens]: inputTokens,
    [attributes.outputTokens]: outputTokens,
    [attributes.costUsd]: costUsd,
  };
}

function outcomeAttributes(run: RunSpans, outcome: RunOutcome): SpanAttributes {
  const { usage, turns, recoveries } = outcome;
  return {
    [attributes.outcome]: outcome.type,
    [attributes.stopReason]: 'reason' in outcome ? outcome.reason : undefined,
    [attributes.turns]: turns,
    [attributes.recoveries]: recoveries.length,
    [attributes.inputTokens]: usage.inputTokens,
    [attributes.outputTokens]: usage.outputTokens,
    // A sum with an unknown part in it is no cost.
    [attributes.costUsd]: usage.unknownCost === 0 ? usage.costUsd : undefined,
    ...(run.recordContent && outcome.type === 'completed'
      ? { [attributes.outputMessages]: messagesText([{ role: 'assistant', content: outcome.text }]) }
      : {}),
  };
}

/** A run that waits has not gone wrong, whatever it waits for. */
function failureOf(outcome: RunOutcome): Failure | undefined {
  return outcome.type === 'failed' || outcome.type === 'stopped' ? outcome.failure : undefined;
}
