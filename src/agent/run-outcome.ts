import type { Json } from '../base/json.ts';
import type { Failure } from '../errors/failure.ts';
import type { Message } from '../model/message.ts';
import type { Ledger } from '../resilience/ledger.ts';
import type { ErrorReport } from './report/error-report.ts';
import type { Provenance } from './approval/provenance.ts';
import type { RecoveryName } from './turn/recovery.ts';

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
  /** Of a flow or a plan: what became of its parts. */
  readonly nodes?: readonly NodeReport[];
}

/** What became of one node of a flow, or of one step of a plan. */
export interface NodeReport {
  readonly name: string;
  readonly status: 'succeeded' | 'failed' | 'skipped' | 'waiting' | 'cancelled' | 'not-reached';
  /** The run that it was, where it was one: `rerail show` takes it. */
  readonly runId?: string;
  readonly text?: string;
  readonly output?: Json;
  readonly failure?: Failure;
  /** Why it was skipped, what it waits for, what took its place. */
  readonly reason?: string;
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
  /** A person is asked what a plan or a tool must know. */
  | 'clarification'
  /** It could not be written down. */
  | 'storage'
  /** The process that carried it has released it: it continues where a process resumes it. */
  | 'released';

/** Those about a call of a tool: whether it may run, or whether it happened. */
export type CallRequest = Extract<PersonRequest, { readonly type: 'approval' | 'in-doubt' }>;

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
      /** What must not be overlooked, such as letters that are drawn like others. */
      readonly warning?: string;
      /** The run came from elsewhere: who wrote what is on record of it is not known here. */
      readonly provenance?: Provenance;
    }
  | {
      readonly type: 'in-doubt';
      readonly id: string;
      readonly tool: string;
      readonly input: Json;
      readonly hash: string;
      readonly why: string;
      /** As above. */
      readonly warning?: string;
      /** As above. */
      readonly provenance?: Provenance;
    }
  /** What a plan or a tool must know before it can continue. The answer is a text. */
  | {
      readonly type: 'question';
      readonly id: string;
      readonly question: string;
      readonly why: string;
    }
  /** What must be fixed outside before it can continue. */
  | { readonly type: 'mend'; readonly id: string; readonly why: string };
