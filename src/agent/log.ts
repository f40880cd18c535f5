// Table: what is logged of each event of a run.
import type { Json } from '../base/json.ts';
import type { Failure } from '../errors/failure.ts';
import type { RunEvent } from './run-event.ts';
import type { RunOutcome } from './run-outcome.ts';

/** How much it matters, for filters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One line of a structured log. */
export interface LogEntry {
  readonly level: LogLevel;
  /** The same text for every event of a type, so that it can be searched for and counted. */
  readonly message: string;
  /** Redacted and bounded. What people, models and tools said is not in it. */
  readonly fields: Readonly<Record<string, Json>>;
}

/** How an event of one type is logged; nothing for what would drown the rest. */
export type LogRule<Event> =
  | {
      readonly level: LogLevel | ((event: Event) => LogLevel);
      readonly message: string;
      readonly fields: (event: Event) => Readonly<Record<string, Json | undefined>>;
    }
  | undefined;

/** One rule for each type of event. */
export type LogRules = {
  readonly [Type in RunEvent['type']]: LogRule<Extract<RunEvent, { readonly type: Type }>>;
};

/** A new type of event does not compile until it stands here. */
export const logRules = {
  'run-started': {
    level: 'info',
    message: 'Run started',
    fields: ({ input }) => ({ messages: input.length }),
  },
  'run-resumed': { level: 'info', message: 'Run resumed', fields: () => ({}) },
  'turn-started': {
    level: 'debug',
    message: 'Turn started',
    fields: ({ turn, purpose }) => ({ turn, purpose }),
  },
  'attempt-started': {
    level: 'debug',
    message: 'Model attempt started',
    fields: ({ turn, attempt, provider, model, isProbe }) => ({ turn, attempt, provider, model, isProbe }),
  },
  'text-delta': undefined,
  'reasoning-delta': undefined,
  'tool-call-started': undefined,
  'tool-call-delta': undefined,
  'text-retracted': {
    level: 'debug',
    message: 'Text retracted',
    fields: ({ turn, keep }) => ({ turn, keep }),
  },
  'request-noted': {
    level: ({ note }) => (note.type === 'tool-left-out' ? 'warn' : 'info'),
    message: 'Request noted',
    fields: ({ turn, attempt, provider, model, note }) => ({
      turn,
      attempt,
      provider,
      model,
      ...note,
      type: note.type,
    }),
  },
  'model-finished': {
    level: 'info',
    message: 'Model finished',
    fields: (event) => ({
      turn: event.turn,
      attempt: event.attempt,
      provider: event.provider,
      model: event.model,
      servedBy: event.servedBy,
      responseId: event.responseId,
      finishReason: event.finishReason,
      inputTokens: event.inputTokens,
      outputTokens: event.outputTokens,
      costUsd: event.costUsd,
      durationMs: event.durationMs,
    }),
  },
  'tool-started': {
    level: 'debug',
    message: 'Tool started',
    fields: ({ turn, callId, name, attempt }) => ({ turn, callId, tool: name, attempt }),
  },
  'tool-progress': {
    level: 'debug',
    message: 'Tool made progress',
    fields: ({ turn, callId, name, done, total }) => ({ turn, callId, tool: name, done, total }),
  },
  'tool-finished': {
    level: ({ end }) => (end.type === 'ok' || end.type === 'retry' ? 'info' : 'warn'),
    message: 'Tool finished',
    fields: ({ turn, attempt, callId, name, end }) => ({
      turn,
      callId,
      tool: name,
      attempt,
      end: end.type,
      durationMs: end.durationMs,
      totalCharacters: end.totalCharacters,
      failure: end.failure && failureFields(end.failure),
    }),
  },
  'tool-late': {
    level: 'warn',
    message: 'Tool ended after the run stopped waiting for it',
    fields: ({ turn, callId, name, settled, afterMs }) => ({ turn, callId, tool: name, settled, afterMs }),
  },
  'tool-warning': {
    level: 'warn',
    message: 'Tool affected the process',
    fields: ({ turn, callId, name, warning, failure }) => ({
      turn,
      callId,
      tool: name,
      warning,
      failure: failureFields(failure),
    }),
  },
  'arguments-repaired': {
    level: 'warn',
    message: 'Tool arguments repaired',
    fields: ({ turn, callId, name }) => ({ turn, callId, tool: name }),
  },
  failure: {
    level: 'warn',
    message: 'Failure',
    fields: ({ turn, failure }) => ({ turn, failure: failureFields(failure) }),
  },
  recovery: {
    level: 'warn',
    message: 'Recovery',
    fields: ({ turn, failure, recovery, reason, delayMs }) => ({
      turn,
      recovery,
      reason,
      delayMs,
      failure: failureFields(failure),
    }),
  },
  'breaker-changed': {
    level: 'warn',
    message: 'Breaker changed',
    fields: ({ provider, from, to }) => ({ provider, from, to }),
  },
  'breaker-awaited': {
    level: 'info',
    message: 'Waiting for the breaker',
    fields: ({ provider, model }) => ({ provider, model }),
  },
  'tool-withdrawn': {
    level: 'warn',
    message: 'Tool withdrawn',
    fields: ({ turn, name, reason, untilMs }) => ({ turn, tool: name, reason, untilMs }),
  },
  'tool-restored': {
    level: 'info',
    message: 'Tool restored',
    fields: ({ turn, name }) => ({ turn, tool: name }),
  },
  'history-repaired': {
    level: 'warn',
    message: 'History repaired',
    fields: ({ repairs }) => ({ repairs: repairs.length }),
  },
  'events-dropped': {
    level: 'warn',
    message: 'Unread events were dropped',
    fields: ({ count, characters }) => ({ count, characters }),
  },
  'agent-changed': {
    level: 'warn',
    message: 'Resumed with other code than it was started with',
    fields: ({ differences }) => ({ differences: differences.join('; ') }),
  },
  'history-selected': {
    level: 'info',
    message: 'A part of the session was chosen',
    fields: ({ strategy, total, selected, degraded }) => ({
      strategy,
      total,
      selected,
      degraded: degraded.length,
    }),
  },
  'storage-failed': {
    level: 'error',
    message: 'The store failed: the run continues without it',
    fields: ({ failure }) => ({ code: failure.code }),
  },
  'storage-restored': {
    level: 'info',
    message: 'Everything is recorded again',
    fields: () => ({}),
  },
  'history-compacted': {
    level: 'info',
    message: 'History compacted',
    fields: ({ turn, why, strategy, tokensBefore, tokensAfter, failure }) => ({
      turn,
      why,
      strategy,
      tokensBefore,
      tokensAfter,
      ...(failure === undefined ? {} : { code: failure.code, failure: failureFields(failure) }),
    }),
  },
  'messages-injected': {
    level: 'debug',
    message: 'Messages injected',
    fields: ({ turn, messages }) => ({ turn, messages: messages.length }),
  },
  'limit-reached': {
    level: 'warn',
    message: 'Limit reached',
    fields: ({ turn, limit, reason }) => ({ turn, limit, reason }),
  },
  'approval-requested': {
    level: 'info',
    message: 'Person asked',
    fields: ({ request }) => ({
      request: request.type,
      id: request.id,
      tool: 'tool' in request ? request.tool : undefined,
    }),
  },
  'approval-answered': {
    level: 'info',
    message: 'Person answered',
    fields: ({ id, verdict, changed }) => ({
      id,
      verdict,
      askedHash: changed?.asked.hash,
      changedHash: changed?.hash,
    }),
  },
  'hook-failed': {
    level: 'error',
    message: 'Hook failed',
    fields: ({ hook, point, failure }) => ({ hook, point, failure: failureFields(failure) }),
  },
  // The run below has a log of its own.
  'child-event': {
    level: 'debug',
    message: 'Run below',
    fields: ({ node, runId, event }) => ({ node, childId: runId, event: event.type }),
  },
  'run-suspended': {
    level: 'warn',
    message: 'Run suspended',
    fields: ({ reason, resumeAt }) => ({ reason, resumeAt }),
  },
  explained: {
    level: 'info',
    message: 'Run explained',
    fields: ({ explanation }) => ({ model: explanation.model, claims: explanation.claims.length }),
  },
  'run-finished': {
    level: ({ outcome }) => outcomeLevels[outcome.type],
    message: 'Run finished',
    fields: ({ outcome }) => outcomeFields(outcome),
  },
} satisfies LogRules;

const outcomeLevels = {
  completed: 'info',
  suspended: 'info',
  cancelled: 'info',
  stopped: 'warn',
  failed: 'error',
} as const satisfies Record<RunOutcome['type'], LogLevel>;

function outcomeFields(outcome: RunOutcome): Readonly<Record<string, Json | undefined>> {
  const { type, turns, usage, recoveries } = outcome;
  const failure = 'failure' in outcome ? outcome.failure : undefined;
  return {
    outcome: type,
    reason: 'reason' in outcome ? outcome.reason : undefined,
    turns,
    recoveries: recoveries.length,
    requests: usage.requests,
    toolCalls: usage.toolCalls,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    costUsd: usage.costUsd,
    elapsedMs: usage.elapsedMs,
    failure: failure && failureFields(failure),
  };
}

/** A failure without its context and causes, which belong to the error report; of an error of the user's own code, where it was thrown. */
function failureFields(failure: Failure): Json {
  const { code, origin, message, retryable, retryAfterMs, provider, causes } = failure;
  const stack = causes.flatMap(({ name, stack: frames = [] }, index) =>
    index === 0 || frames.length === 0 ? frames : [`caused by ${name}`, ...frames],
  );
  return {
    code,
    origin,
    message,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(provider === undefined ? {} : { provider: { ...provider } }),
    ...(stack.length === 0 ? {} : { stack }),
  };
}
