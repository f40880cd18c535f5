import type { Failure } from '../../errors/failure.ts';
import type { ToolEffect } from '../../model/tool.ts';
import type { AttemptRecord } from '../../resilience/call-report.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import type { RunLimits } from '../limits.ts';
import type { RunRecovery, StopReason } from '../run-outcome.ts';

/** What is known of a run that failed or was stopped: all that a report is made of. JSON. */
export interface ReportFacts {
  readonly agent: string;
  readonly runId: string;
  /** The first text of the person. */
  readonly asked: string;
  readonly ended:
    | { readonly type: 'failed'; readonly failure?: Failure | undefined }
    | { readonly type: 'stopped'; readonly reason: StopReason; readonly failure?: Failure | undefined };
  readonly turns: number;
  readonly toolCalls: number;
  /** Per tool: calls that went well. */
  readonly succeeded: Readonly<Record<string, number>>;
  /** Per tool: failures in a row at the end. */
  readonly toolFailures: Readonly<Record<string, number>>;
  /** Per tool, as far as known: whether a call that went well has changed something. */
  readonly effects?: Readonly<Record<string, ToolEffect>>;
  /** Of a flow: those that are runs of their own, with records of what they finished. */
  readonly nodes?: readonly string[];
  /** The latest attempts at models. */
  readonly attempts: readonly AttemptRecord[];
  readonly recoveries: readonly RunRecovery[];
  readonly usage: Ledger;
  readonly elapsedMs: number;
  /** What there is of an answer. */
  readonly partial: string;
  readonly limits: Partial<RunLimits>;
}
