import type { Failure } from '../errors/failure.ts';
import type { Message } from '../model/message.ts';
import type { ToolChoice } from '../model/request.ts';
import type { CallProgress } from '../resilience/call-progress.ts';
import type { AttemptRecord } from '../resilience/call-report.ts';
import type { Ledger } from '../resilience/ledger.ts';
import type { ToolBreakers } from '../resilience/tool-breaker.ts';
import type { Rejections } from './approval/approval.ts';
import type { RunConfig } from './config.ts';
import type { History } from './turn/history.ts';
import type { LoopGuard } from './turn/loop-guard.ts';
import type { RunExplanation } from './report/error-report.ts';
import type { RecoveryName } from './turn/recovery.ts';
import type { PersonRequest, RunRecovery, StopReason, SuspendReason } from './run-outcome.ts';
import type { PersonAnswer } from './event.ts';
import type { Provenance } from './approval/provenance.ts';
import type {
  CallWait,
  ChildUse,
  PreparedCall,
  Remembered,
  ToolEnd,
  ToolQuestion,
} from './tools/tool-call.ts';

/** A run, as the fold of its events. All JSON. */
export interface RunState {
  readonly runId: string;
  readonly config: RunConfig;
  readonly phase: Phase;
  /** The conversation without the instructions; valid for every provider whenever a model is called. */
  readonly history: History;
  /** Model turns that were begun; a salvage turn is not counted. */
  readonly turn: number;
  readonly toolCalls: number;
  /** Active time. */
  readonly elapsedMs: number;
  /** The latest wall time of an event, for what a person is shown. */
  readonly wallMs: number;
  readonly ledger: Ledger;
  readonly recoveries: readonly RunRecovery[];
  /** The latest attempts, for the report. */
  readonly records: readonly AttemptRecord[];
  /** The latest text of the model: what there is of an answer if the run ends here. */
  readonly partial: string;
  readonly guard: LoopGuard;
  readonly breakers: ToolBreakers;
  /** Models that are not to be asked for now. */
  readonly resting: readonly Resting[];
  /** Tools that were taken away, with the reason. Those of a breaker come back. */
  readonly withdrawn: Readonly<Record<string, Withdrawal>>;
  readonly tallies: Tallies;
  /** What the next request says about tools; absent where the model decides. A forced call is dropped with the first answer. */
  readonly toolChoice?: ToolChoice;
  /** How often it was continued after a failure or a cancellation; absent where never. */
  readonly resumes?: number;
  /** Of a conducted run: so many messages at the beginning are what it was asked. */
  readonly taskLength?: number;
  /** Runs that calls of this one were and that may be continued, with what they had used up at their latest report. */
  readonly children?: Readonly<Record<string, Ledger>>;
  /** What all runs below this one have used up: it is part of `ledger`. */
  readonly below?: Ledger;
  /** What tools have remembered, the latest last; absent where nothing. */
  readonly remembered?: readonly Remembered[];
  /** Of a run that was imported: the id of the import after which it took on limits and rules of the agent here. */
  readonly adopted?: string;
  /** Where the run came from, for its next generation. The machine does not look at it. */
  readonly provenance?: Provenance;
}

/** A model of the chain that is not to be asked for now: it asked for that, or a person must fix something first. */
export interface Resting {
  /** Its index in the chain. */
  readonly target: number;
  /** Milliseconds since 1970; the largest safe integer where only a person can help. */
  readonly untilMs: number;
  readonly failure: Failure;
}

export interface Withdrawal {
  readonly reason: string;
  readonly by: 'loop' | 'failures' | 'breaker';
  /** In terms of `elapsedMs`. */
  readonly untilMs?: number;
}

/** What is counted over turns. */
export interface Tallies {
  /** Rungs used since the last answer that led on. */
  readonly nudges: number;
  readonly reasks: number;
  readonly compactions: number;
  /** How often a conversation that cannot be too long was sent again as it is; absent where never. */
  readonly repeats?: number;
  /** Per tool: failures and hints in a row. */
  readonly toolFailures: Readonly<Record<string, number>>;
  readonly failedTurns: number;
  /** Failures that the next good answer will have overcome. */
  readonly pending: readonly RunRecovery[];
  readonly rejections: Rejections;
  /** Per tool: calls that went well. */
  readonly succeeded: Readonly<Record<string, number>>;
}

/** What the run is doing. */
export type Phase =
  | Calling
  /** A retry is due after a wait. */
  | { readonly type: 'waiting'; readonly calling: Calling; readonly delayMs: number }
  | RunningTools
  /** Some calls of the turn are due again after a wait. */
  | { readonly type: 'waiting-for-tools'; readonly tools: RunningTools; readonly delayMs: number }
  /** A person is asked. */
  | {
      readonly type: 'asking';
      readonly tools: RunningTools;
      readonly index: number;
      readonly request: PersonRequest;
    }
  | Suspended
  | Ended;

export interface Calling {
  readonly type: 'calling-model';
  readonly turn: number;
  /** A salvage turn is the last one: it has no tools, and the run is stopped after it. */
  readonly salvage?: Stop;
  readonly progress: CallProgress;
  /** The text of an answer that was cut off and is being continued. */
  readonly base: string;
  readonly continuations: number;
  /** Whether the conversation was made shorter for this call: it is looked at once. */
  readonly isCompacted: boolean;
  /** The model to begin with, where a function chose it. */
  readonly selected?: number;
}

/** Why a run is stopped. */
export interface Stop {
  readonly reason: StopReason;
  readonly failure: Failure;
}

export interface RunningTools {
  readonly type: 'running-tools';
  /** What the model said, calls included. It joins the conversation together with the results: never one without the other. */
  readonly answer: Message;
  readonly calls: readonly CallState[];
}

/** One call of the turn. */
export type CallState =
  | (Tried & { readonly type: 'ready' | 'running' })
  /** A person is asked: whether it may run or, where its tool asks something, that. */
  | (Tried & { readonly type: 'to-ask'; readonly question?: ToolQuestion })
  | (Tried & { readonly type: 'due'; readonly delayMs: number })
  /** It is a run of its own, and waits outside the process. With that run where it did something. */
  | (Tried & { readonly type: 'waiting'; readonly wait: CallWait; readonly child?: ChildUse })
  /** It may have happened. */
  | (Tried & { readonly type: 'in-doubt'; readonly end: ToolEnd; readonly isVerified: boolean })
  | (Tried & { readonly type: 'verifying'; readonly end: ToolEnd })
  | { readonly type: 'done'; readonly call: PreparedCall; readonly end: ToolEnd };

/** A call with the attempts at it that failed. */
export interface Tried {
  readonly call: ReadyCall;
  readonly attempts: readonly FailedCall[];
  /** It waited, and the run was resumed: what was said, and to which question. */
  readonly answer?: CallAnswer;
}

/** What a person said to what a call asked, or that it should see whether it can continue. */
export interface CallAnswer {
  readonly said: PersonAnswer;
  /** Of the question. */
  readonly about?: string;
  /** Of a run that came from elsewhere: it was said here. */
  readonly provenance?: Provenance;
}

/** An attempt at a call that failed, and why it is made again. */
export interface FailedCall {
  readonly failure: Failure;
  readonly recovery: RecoveryName;
  readonly lostMs: number;
}

export type ReadyCall = Extract<PreparedCall, { type: 'ready' }>;

export interface Suspended {
  readonly type: 'suspended';
  readonly reason: SuspendReason;
  /** Milliseconds since 1970. */
  readonly resumeAt?: number;
  readonly request?: PersonRequest;
  readonly failure?: Failure;
  readonly back: Extract<Phase, { type: 'asking' }> | Held | Calling;
}

/** A call that is a run of its own waits, and with it this run. */
export interface Held {
  readonly type: 'held';
  readonly tools: RunningTools;
  readonly index: number;
}

export type Ended = { readonly type: 'ended' } & (
  | { readonly end: 'completed'; readonly text: string; readonly output: unknown }
  | (Explained & { readonly end: 'stopped'; readonly reason: StopReason; readonly failure?: Failure })
  | (LeftOpen & { readonly end: 'cancelled' })
  | (LeftOpen & Explained & { readonly end: 'failed'; readonly failure: Failure })
);

/** An end that a model may have explained. */
export interface Explained {
  readonly explanation?: RunExplanation;
}

/** What an end has broken off, and a resumed run does first. */
export interface LeftOpen {
  /** The turn in which it is unknown of a call whether it happened. Its answer and results stand at the end of the conversation. */
  readonly doubt?: RunningTools;
}
