// Table: what a run does about a failure that the model call itself could not overcome. The compiler asks for a row per code.

import type { FailureCode } from '../../errors/codes.ts';
import type { Failure } from '../../errors/failure.ts';
import type { StopReason, SuspendReason } from '../run-outcome.ts';

/** One rung. The first that is not used up and has what it needs is taken; the last one always has. */
export type Rung =
  /** Tell the model what was wrong with its answer. */
  | 'nudge'
  /** Let it continue where it was cut off. */
  | 'continue'
  /** Ask for the same answer in the required form. */
  | 're-ask'
  /** Shorten the conversation, and again where that was not enough. */
  | 'compact'
  /** Send it as it is: it cannot be too long. */
  | 'repeat'
  /** Come back when the other side asked for it. */
  | 'suspend: long-wait'
  | 'suspend: credit'
  | 'suspend: credentials'
  | 'stop: refused'
  | 'cancel'
  | 'fail';

const comeBack = ['suspend: long-wait', 'fail'] as const;
const credentials = ['suspend: credentials', 'fail'] as const;
const shorter = ['compact', 'repeat', 'fail'] as const;
const speakAgain = ['nudge', 'fail'] as const;
const end = ['fail'] as const;

/** The rungs above the model call; retry, splice and fallback are below, in `resilience/recovery-routes.ts`. */
export const ladder: Readonly<Record<FailureCode, readonly [Rung, ...Rung[]]>> = {
  RATE_LIMITED: comeBack,
  OVERLOADED: comeBack,
  SERVER_ERROR: comeBack,
  NETWORK_ERROR: comeBack,
  MODEL_LOADING: comeBack,
  STREAM_INTERRUPTED: comeBack,
  TIMEOUT: comeBack,
  QUOTA_EXCEEDED: ['suspend: credit', 'fail'],
  AUTHENTICATION_ERROR: credentials,
  PERMISSION_DENIED: credentials,
  MODEL_NOT_FOUND: credentials,
  PROVIDER_NOT_CONFIGURED: credentials,
  CONTEXT_LENGTH_EXCEEDED: shorter,
  REQUEST_TOO_LARGE: shorter,
  CONTENT_FILTERED: ['stop: refused'],
  EMPTY_RESPONSE: speakAgain,
  TOOL_CALL_INVALID: speakAgain,
  OUTPUT_TRUNCATED: ['continue', 'nudge', 'fail'],
  OUTPUT_PARSE_ERROR: ['re-ask', 'fail'],
  CANCELLED: ['cancel'],
  // What neither time nor words would fix.
  PROVIDER_NOT_SUPPORTED: end,
  INVALID_REQUEST: end,
  INVALID_RESPONSE: end,
  UNKNOWN: end,
  INTERNAL: end,
  CONFIG_ERROR: end,
  ALREADY_REGISTERED: end,
  NOT_REGISTERED: end,
  // Those of tools are reported to the model; as the end of a run they have nowhere further to go.
  TOOL_EXECUTION_ERROR: end,
  TOOL_NOT_FOUND: end,
  UNKNOWN_OUTCOME: end,
  VALIDATION_ERROR: end,
  SERIALIZATION_ERROR: end,
  IO_ERROR: end,
  PATH_OUTSIDE_WORKSPACE: end,
  SANDBOX_SETUP_FAILED: end,
  SANDBOX_EXECUTION_FAILED: end,
  NOT_FOUND: end,
  BUDGET_EXCEEDED: end,
  COMPACTION_FAILED: end,
  INITIALIZATION_ERROR: end,
  MAX_ITERATIONS_EXCEEDED: end,
  ENDLESS_LOOP: end,
  INVALID_STATE: end,
  HOOK_FAILED: end,
  HOOK_TERMINATED: end,
  // Those of flows and plans are met above the model call, by the conductor, which plans again or chooses again itself.
  FLOW_INVALID: end,
  FLOW_CYCLE: end,
  MAX_HANDOFFS_EXCEEDED: end,
  PLAN_INVALID: end,
  REPLAN_LIMIT: end,
  // Those of an engine that executes the run are met outside the machine, as those of the store are.
  ACTIVITY_FAILED: end,
  SIGNAL_TIMEOUT: end,
  HISTORY_LIMIT: end,
  // The runtime meets those of the store outside the machine, where what can be fixed suspends the run.
  STORAGE_NOT_FOUND: end,
  STORAGE_CORRUPT: end,
  STORAGE_LOCKED: end,
  STORAGE_FULL: end,
  STORAGE_IO: end,
  STORAGE_READ_ONLY: end,
  STORAGE_LOST: end,
  STORAGE_DIVERGED: end,
  STORAGE_NEWER_SCHEMA: end,
};

/** What is known when a failure has to be climbed. */
export interface LadderHistory {
  readonly nudges: number;
  readonly continuations: number;
  readonly reasks: number;
  readonly compactions: number;
  /** Text that was cut off and could be continued. */
  readonly hasText: boolean;
  /** A call was being written when the answer was cut off. */
  readonly hasCalls: boolean;
  readonly hasOutput: boolean;
  /** Whether shortening the conversation would save anything. */
  readonly canCompact: boolean;
  /** An earlier model of the chain refused it as too long, and the last one failed for another reason. */
  readonly isChainRefused: boolean;
  /** How often it may be shortened. */
  readonly maxCompactions: number;
  /** A refusal as too long that cannot be about the length: see `overflow.ts`. */
  readonly isUnbelievable: boolean;
  /** Milliseconds since 1970: no caller may ask again before. */
  readonly resumeAtMs?: number | undefined;
}

/** How often each rung may be used: see `RunLimits`. */
export interface LadderPolicy {
  readonly maxNudges: number;
  readonly maxContinuations: number;
  readonly maxReasks: number;
}

/** What to do, and why, in words for the journal. */
export type Recovery =
  | {
      readonly type: 'nudge' | 'continue' | 're-ask' | 'compact' | 'retry' | 'cancel' | 'fail';
      readonly reason: string;
    }
  | {
      readonly type: 'suspend';
      readonly suspend: SuspendReason;
      readonly reason: string;
      readonly resumeAtMs?: number;
    }
  | { readonly type: 'stop'; readonly stop: StopReason; readonly reason: string };

/** Climbs the ladder of the failure: the first rung that can still help. Pure; the same history gives the same answer. */
export function recover(failure: Failure, history: LadderHistory, policy: LadderPolicy): Recovery {
  for (const rung of rungsOf(failure, history)) {
    const recovery = tryRung(rung, history, policy);
    if (recovery !== undefined) return recovery;
  }
  return { type: 'fail', reason: `${failure.code}: every rung of its ladder is used up` };
}

/** Where a model of the chain refused the conversation as too long, it may take a shorter one, whatever is wrong with the last. */
function rungsOf({ code }: Failure, { isChainRefused }: LadderHistory): readonly Rung[] {
  const rungs = ladder[code];
  return isChainRefused && code !== 'CANCELLED' ? ['compact', ...rungs] : rungs;
}

function tryRung(rung: Rung, history: LadderHistory, policy: LadderPolicy): Recovery | undefined {
  switch (rung) {
    case 'nudge':
      return history.nudges < policy.maxNudges
        ? { type: 'nudge', reason: `the model is notified, ${history.nudges + 1} of ${policy.maxNudges}` }
        : undefined;
    case 'continue': {
      const can = history.hasText && !history.hasCalls && !history.hasOutput;
      if (!can || history.continuations >= policy.maxContinuations) return undefined;
      const count = `${history.continuations + 1} of ${policy.maxContinuations}`;
      return { type: 'continue', reason: `the cut-off answer is continued, ${count}` };
    }
    case 're-ask':
      return history.reasks < policy.maxReasks
        ? {
            type: 're-ask',
            reason: `asked again with what is wrong, ${history.reasks + 1} of ${policy.maxReasks}`,
          }
        : undefined;
    case 'compact':
      return shorten(history);
    case 'repeat':
      return history.isUnbelievable ? askAgain : undefined;
    case 'suspend: long-wait': {
      const { resumeAtMs } = history;
      if (resumeAtMs === undefined) return undefined;
      return {
        type: 'suspend',
        suspend: 'long-wait',
        resumeAtMs,
        reason: 'the provider allows no request before the time it named',
      };
    }
    case 'suspend: credit':
      return { type: 'suspend', suspend: 'credit', reason: 'the account must be topped up first' };
    case 'suspend: credentials':
      return {
        type: 'suspend',
        suspend: 'credentials',
        reason: 'the key, its rights or the model name must be fixed first',
      };
    case 'stop: refused':
      return { type: 'stop', stop: 'refused', reason: 'the model refused to answer this' };
    case 'cancel':
      return { type: 'cancel', reason: 'the caller cancelled it' };
    default:
      return { type: 'fail', reason: 'every rung of its ladder is used up' };
  }
}

const askAgain: Recovery = {
  type: 'retry',
  reason: 'the limit that it states is far from reached, so it is asked again',
};

function shorten({ canCompact, compactions, maxCompactions }: LadderHistory): Recovery | undefined {
  if (!canCompact || compactions >= maxCompactions) return undefined;
  const reason = `the conversation is shortened, ${compactions + 1} of at most ${maxCompactions}`;
  return { type: 'compact', reason };
}
