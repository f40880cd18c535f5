import type { Hook } from '../../agent/hooks/hook.ts';
import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import type { PersonRequest, RunOutcome } from '../../agent/run-outcome.ts';
import type { RecoveryName } from '../../agent/turn/recovery.ts';
import { isRecord } from '../../base/json.ts';
import { adviseName } from '../../base/nearest.ts';
import { configError } from '../../errors/config-error.ts';
import { docsOf } from '../../errors/codes.ts';
import type { Failure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';

/** Functions that are called while runs last. What they throw is noted and never touches the run. */
export interface AgentCallbacks {
  /** Once per run, after the ladder is spent: it failed, or a bound stopped it. */
  readonly onError?: (failure: Failure, about: ErrorFacts) => void | Promise<void>;
  /** Each time something is tried again, another way, or with another target. */
  readonly onRetry?: (retry: RetryFacts) => void | Promise<void>;
  /** Everything, with the failure written out for a developer where there is one. Not the pieces of text. */
  readonly onDebug?: (event: RunEvent, about: DebugFacts) => void | Promise<void>;
  /** Everything, every piece of text included. */
  readonly onEvent?: (event: RunEvent, about: { readonly runId: string }) => void | Promise<void>;
  /** Answers in the place of a person. Without it a run that needs one is `suspended`. */
  readonly onApproval?: (
    request: PersonRequest,
    options: { readonly signal: AbortSignal },
  ) => ApprovalReply | Promise<ApprovalReply>;
}

/** Nothing where it has no answer: then an approval is denied, and any other question waits. */
type ApprovalReply = RunAnswer | undefined | void;

export interface ErrorFacts {
  readonly runId: string;
  readonly outcome: RunOutcome;
  /** For a person: what happened, and what to do. */
  readonly message: string;
}

export interface RetryFacts {
  readonly runId: string;
  readonly turn: number;
  readonly failure: Failure;
  readonly recovery: RecoveryName;
  readonly reason: string;
  readonly delayMs?: number;
}

export interface DebugFacts {
  readonly runId: string;
  readonly detail?: string;
}

const names = [
  'onError',
  'onRetry',
  'onDebug',
  'onEvent',
  'onApproval',
] as const satisfies readonly (keyof AgentCallbacks)[];

/** What is done about a failure without ending the run. */
const goesOn: ReadonlySet<RecoveryName> = new Set<RecoveryName>([
  'retry',
  'splice',
  'next-key',
  'fall-back',
  'nudge',
  'continue',
  're-ask',
  'compact',
  'tell-model',
  'withdraw-tool',
  'verify',
  'salvage',
  'skip',
  'replan',
  'reclassify',
]);

/** Each callback as an observer of its own: one that breaks must not silence another. */
export function createCallbackHooks(callbacks: AgentCallbacks): readonly Hook[] {
  checkCallbacks(callbacks);
  const { onDebug, onRetry, onError } = callbacks;
  const hooks: Hook[] = [];
  if (onDebug !== undefined)
    hooks.push(observer('onDebug', (event, runId) => onDebug(event, debugFacts(event, runId))));
  if (onRetry !== undefined) {
    hooks.push(
      observer('onRetry', (event, runId) =>
        event.type === 'recovery' && goesOn.has(event.recovery)
          ? onRetry(retryFacts(event, runId))
          : undefined,
      ),
    );
  }
  if (onError !== undefined) {
    hooks.push(
      observer('onError', (event) =>
        event.type === 'run-finished' ? tellError(onError, event.outcome) : undefined,
      ),
    );
  }
  return hooks;
}

function observer(name: string, hear: (event: RunEvent, runId: string) => void | Promise<void>): Hook {
  return { name, kind: 'observer', on: {}, onEvent: (event, { runId }) => hear(event, runId) };
}

function checkCallbacks(callbacks: unknown): void {
  if (!isRecord(callbacks))
    throw configError('"callbacks" must be an object of functions, such as { onError }');
  for (const [name, value] of Object.entries(callbacks)) {
    if (value === undefined) continue;
    if (!(names as readonly string[]).includes(name)) {
      throw configError(`There is no callback "${name}": ${adviseName(name, names)}`);
    }
    if (typeof value !== 'function')
      throw configError(`The callback "${name}" must be a function, got ${typeof value}`);
  }
}

function debugFacts(event: RunEvent, runId: string): DebugFacts {
  const failure = failureIn(event);
  if (failure === undefined) return { runId };
  return { runId, detail: `${renderFailure(failure, 'developer')}\n  docs: ${docsOf(failure.code)}` };
}

function failureIn(event: RunEvent): Failure | undefined {
  // A run may end by a failure that no other event has, such as one of a hook.
  const holder = event.type === 'run-finished' ? event.outcome : event;
  return 'failure' in holder ? holder.failure : undefined;
}

function retryFacts(
  { turn, failure, recovery, reason, delayMs }: Extract<RunEvent, { type: 'recovery' }>,
  runId: string,
): RetryFacts {
  const facts = { runId, turn, failure, recovery, reason };
  return delayMs === undefined ? facts : { ...facts, delayMs };
}

function tellError(
  onError: NonNullable<AgentCallbacks['onError']>,
  outcome: RunOutcome,
): void | Promise<void> {
  if (outcome.type !== 'failed' && outcome.type !== 'stopped') return undefined;
  const { failure, runId } = outcome;
  // What a person or a guardrail ended ended as intended.
  if (failure === undefined || (outcome.type === 'stopped' && wished.has(outcome.reason))) return undefined;
  return onError(failure, { runId, outcome, message: renderFailure(failure, 'person', { retrying: false }) });
}

const wished: ReadonlySet<string> = new Set(['rejected', 'guardrail']);
