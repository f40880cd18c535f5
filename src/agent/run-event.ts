import type { Json } from '../base/json.ts';
import type { Failure } from '../errors/failure.ts';
import type { Message } from '../model/message.ts';
import type { RequestNote } from '../model/request-note.ts';
import type { RunExplanation } from './report/error-report.ts';
import type { RecoveryName } from './turn/recovery.ts';
import type { PersonRequest, RunOutcome, StopReason, SuspendReason } from './run-outcome.ts';
import type { AskedCall, ToolEnd } from './tools/tool-call.ts';

/** What a run reports while it lasts. The text of the last turn, assembled from these, equals `outcome.text`. */
export type RunEvent<Output = unknown> =
  | {
      readonly type: 'run-started';
      readonly runId: string;
      readonly agent: string;
      readonly input: readonly Message[];
    }
  | { readonly type: 'run-resumed'; readonly runId: string; readonly agent: string }
  | { readonly type: 'turn-started'; readonly turn: number; readonly purpose: 'turn' | 'salvage' }
  | {
      readonly type: 'attempt-started';
      readonly turn: number;
      readonly attempt: number;
      readonly provider: string;
      readonly model: string;
      readonly isProbe: boolean;
    }
  | { readonly type: 'text-delta'; readonly turn: number; readonly text: string }
  /** Of that turn's text only the first `keep` characters still stand; what follows replaces the rest. */
  | { readonly type: 'text-retracted'; readonly turn: number; readonly keep: number }
  | { readonly type: 'reasoning-delta'; readonly turn: number; readonly text: string }
  /** A call while the model writes it, with the provider's own id. Void as soon as another `attempt-started` comes. */
  | {
      readonly type: 'tool-call-started';
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
    }
  /** The next piece of its arguments, as JSON text. */
  | {
      readonly type: 'tool-call-delta';
      readonly turn: number;
      readonly callId: string;
      readonly text: string;
    }
  | {
      readonly type: 'model-finished';
      readonly turn: number;
      readonly attempt: number;
      readonly provider: string;
      readonly model: string;
      readonly durationMs: number;
      readonly finishReason?: string;
      readonly responseId?: string;
      readonly servedBy?: string;
      readonly inputTokens?: number;
      readonly outputTokens?: number;
      /** Of the input: read from, and written to, the provider's prompt cache. */
      readonly cacheReadTokens?: number;
      readonly cacheWriteTokens?: number;
      readonly costUsd?: number;
    }
  /** What was done about a request to a model on its way, and what its answer does not show. */
  | {
      readonly type: 'request-noted';
      readonly turn: number;
      readonly attempt: number;
      readonly provider: string;
      readonly model: string;
      readonly note: RequestNote;
    }
  | {
      readonly type: 'tool-started';
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly input: Json;
      readonly attempt: number;
    }
  | {
      readonly type: 'tool-progress';
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly message: string;
      readonly done?: number;
      readonly total?: number;
    }
  | {
      readonly type: 'tool-finished';
      readonly turn: number;
      readonly attempt: number;
      readonly end: ToolEnd;
      readonly callId: string;
      readonly name: string;
    }
  /** A tool that no caller waits for any more came to an end: evidence, never a result. */
  | {
      readonly type: 'tool-late';
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly settled: 'returned' | 'threw';
      readonly afterMs: number;
      readonly summary: string;
    }
  /** A tool did something to the process that it shares with others: evidence about the tool, no end of its call. */
  | {
      readonly type: 'tool-warning';
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      /** An error that nothing catches, or a change of the working directory, the environment or the file mode mask. */
      readonly warning: 'stray-error' | 'process-changed';
      readonly failure: Failure;
    }
  | {
      readonly type: 'arguments-repaired';
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly input: Json;
    }
  | { readonly type: 'failure'; readonly turn: number; readonly failure: Failure }
  | {
      readonly type: 'recovery';
      readonly turn: number;
      readonly failure: Failure;
      readonly recovery: RecoveryName;
      readonly reason: string;
      readonly delayMs?: number;
    }
  | {
      readonly type: 'breaker-changed';
      readonly provider: string;
      readonly from: string;
      readonly to: string;
    }
  | { readonly type: 'breaker-awaited'; readonly provider: string; readonly model: string }
  | {
      readonly type: 'tool-withdrawn';
      readonly turn: number;
      readonly name: string;
      readonly reason: string;
      /** When it is back, in milliseconds since 1970; absent: not in this run. */
      readonly untilMs?: number;
    }
  | { readonly type: 'tool-restored'; readonly turn: number; readonly name: string }
  /** Something that a run below this one reports: a node of a flow, a step of a plan, a member of a team. */
  | { readonly type: 'child-event'; readonly node: string; readonly runId: string; readonly event: RunEvent }
  | { readonly type: 'history-repaired'; readonly repairs: readonly string[] }
  /** The run is resumed with other code than it was begun with. */
  | { readonly type: 'agent-changed'; readonly differences: readonly string[] }
  /** Only a part of the session was chosen for the run, or choosing it did not go as it should. */
  | {
      readonly type: 'history-selected';
      readonly sessionId: string;
      readonly strategy: string;
      /** Exchanges: a message of the user with everything up to the next one. */
      readonly total: number;
      readonly selected: number;
      readonly degraded: readonly { readonly from: string; readonly to: string; readonly failure: Failure }[];
    }
  /** The store failed, and the run continues without it. */
  | { readonly type: 'storage-failed'; readonly failure: Failure }
  /**
   * Only in a stream that is not read, or too slowly: so many of the oldest events were dropped, with so many characters of the text of
   * earlier turns. The text of the latest turn is whole.
   */
  | { readonly type: 'events-dropped'; readonly count: number; readonly characters: number }
  /** Everything is on record again. */
  | { readonly type: 'storage-restored' }
  /** The conversation was made shorter. What was there before stays in the journal. */
  | {
      readonly type: 'history-compacted';
      readonly turn: number;
      /** By the estimate before a call, or because the provider refused it. */
      readonly why: 'budget' | 'overflow';
      readonly strategy: string;
      /** Estimates. */
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      /** What was wanted was not available, and something simpler was done. */
      readonly failure?: Failure;
    }
  | { readonly type: 'messages-injected'; readonly turn: number; readonly messages: readonly Message[] }
  | {
      readonly type: 'limit-reached';
      readonly turn: number;
      readonly limit: string;
      readonly reason: StopReason;
    }
  | { readonly type: 'approval-requested'; readonly request: PersonRequest }
  | {
      readonly type: 'approval-answered';
      readonly id: string;
      readonly verdict: string;
      readonly reason: string;
      /** A person changed the arguments: what the model asked for, and what runs. */
      readonly changed?: ChangedCall;
    }
  | { readonly type: 'hook-failed'; readonly hook: string; readonly point: string; readonly failure: Failure }
  | {
      readonly type: 'run-suspended';
      readonly reason: SuspendReason;
      readonly resumeAt?: number;
      readonly request?: PersonRequest;
    }
  /** A model has said why the run failed or was stopped. It is part of the report. */
  | { readonly type: 'explained'; readonly explanation: RunExplanation }
  | { readonly type: 'run-finished'; readonly outcome: RunOutcome<Output> };

/** The arguments of a call before and after a person changed them, each with the hash that an approval is bound to. */
export interface ChangedCall {
  readonly asked: AskedCall;
  readonly input: Json;
  readonly hash: string;
}
