import type { Json } from '../base/json.ts';
import type { Failure } from '../errors/failure.ts';
import type { Message } from '../model/message.ts';
import type { Ledger } from '../resilience/ledger.ts';
import type { ErrorReport } from './error-report.ts';
import type { RecoveryName } from './recovery.ts';

/** How a run ended, or why it waits outside the process. */
export type RunOutcome<Output = unknown> =
  | (RunFacts & { readonly type: 'completed'; readonly output: Output; readonly text: string })
  | (RunFacts & {
      readonly type: 'stopped';
      readonly reason: StopReason;
      /** What there is of an answer; it may say itself what is missing. */
      readonly partial: string;
      readonly failure?: Failure;
      readonly report: ErrorReport;
    })
  | (RunFacts & {
      readonly type: 'suspended';
      readonly reason: SuspendReason;
      /** Milliseconds since 1970: not before. */
      readonly resumeAt?: number;
      readonly request?: PersonRequest;
      readonly failure?: Failure;
    })
  | (RunFacts & { readonly type: 'cancelled'; readonly partial: string })
  | (RunFacts & {
      readonly type: 'failed';
      readonly failure: Failure;
      readonly report: ErrorReport;
      readonly partial: string;
    });

/** What every outcome says. */
export interface RunFacts {
  readonly runId: string;
  /** The whole conversation, valid for every provider. */
  readonly messages: readonly Message[];
  readonly usage: RunUsage;
  /** Model turns that were begun. */
  readonly turns: number;
  /** Failures that were overcome, the oldest first. At most the last hundred. */
  readonly recoveries: readonly RunRecovery[];
  /** The store failed and the run went on without it (`bestEffort`): what happened since is on record nowhere. */
  readonly unsaved?: Failure;
}

/** What a run has used up. */
export interface RunUsage extends Ledger {
  readonly toolCalls: number;
  /** Active time: what was spent suspended does not count. */
  readonly elapsedMs: number;
}

/** A failure that was overcome. */
export interface RunRecovery {
  readonly failure: Failure;
  readonly recovery: RecoveryName;
  readonly attempts: number;
  readonly lostMs: number;
  readonly lostTokens: number;
  readonly turn: number;
}

/** A bound or a person ended it. */
export type StopReason = 'max-turns' | 'budget' | 'deadline' | 'loop' | 'rejected' | 'guardrail' | 'refused';

/** What it waits for. `storage`: it could not be written down, and what is not written down is not done. */
export type SuspendReason =
  | 'approval'
  | 'in-doubt'
  | 'long-wait'
  | 'credit'
  | 'credentials'
  /** It could not be written down. */
  | 'storage'
  /** The process that carried it has let go of it: it goes on where somebody takes it up. */
  | 'released';

/** What a person is asked, with everything needed to decide. Answered by `agent.resume(runId, { answer })`. */
export type PersonRequest =
  | {
      readonly type: 'approval';
      readonly id: string;
      readonly tool: string;
      readonly input: Json;
      /** Of tool and arguments: an answer that names another one is no answer to this. */
      readonly hash: string;
      readonly why: string;
      /** Milliseconds since 1970. Without an answer by then it is a no. */
      readonly expiresAt: number;
      readonly isRepaired?: true;
    }
  | {
      readonly type: 'in-doubt';
      readonly id: string;
      readonly tool: string;
      readonly input: Json;
      readonly hash: string;
      readonly why: string;
    }
  /** What must be mended outside before it can go on. */
  | { readonly type: 'mend'; readonly id: string; readonly why: string };
