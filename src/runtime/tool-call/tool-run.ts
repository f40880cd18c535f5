import type { AroundTool } from '../../model/around-tool.ts';
import type { Reply, ToolQuestion } from '../../agent/tools/tool-call.ts';
import type { Clock } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import type { CodeOwner } from '../../model/stray-errors.ts';
import type { Schema, Tool } from '../../model/tool.ts';
import type { LeftBehind } from './left-behind.ts';
import type { Ledger } from '../../resilience/ledger.ts';

/** One call of a tool. */
export interface ToolRun {
  readonly tool: Tool;
  readonly callId: string;
  /** As the model meant it, before the schema: it is parsed again here. */
  readonly input: Json;
  readonly runId: string;
  readonly turn: number;
  readonly attempt: number;
  /** Few tools ask for it, and it is a hash: so it may be handed in as the way to work it out. */
  readonly idempotencyKey: string | (() => string);
  /** What is left of the run's time. */
  readonly leftMs: number;
  /** What the call declares to need for itself. */
  readonly resource?: string | undefined;
  /** What the tool has asked a person so far, with the answers. Absent where it may not ask, as in `verify`. */
  readonly replies?: readonly Reply[] | undefined;
  /** What was said to it came with the record of a run from elsewhere: the person is asked again, and nothing else is done. */
  readonly asksAgain?: ToolQuestion | undefined;
  /** What the run has kept for its tools. */
  readonly recall?: (name: string) => string | undefined;
}

export interface ToolRunOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The agent's calls that still run although their wait has ended. */
  readonly leftBehind: LeftBehind;
  readonly onProgress: (progress: ToolProgress) => void;
  readonly onLate: (late: LateEnd) => void;
  /** Answers for the errors that the call leaves to the process. */
  readonly owner: CodeOwner;
  /** Runs the tool's code, within what observers put around it. */
  readonly around?: AroundTool | undefined;
  /** Rejects with a `RerailError`. */
  readonly assist: (prompt: string, schema: Schema | undefined, signal: AbortSignal) => Promise<Assisted>;
  readonly onBackground: (label: string, work: Promise<unknown>) => void;
  /** A result may be so much longer than what the model is shown: the store keeps it whole. */
  readonly maxSpilledCharacters?: number;
}

export interface ToolProgress {
  readonly message: string;
  readonly done?: number;
  readonly total?: number;
}

/** A tool that no caller waits for any more came to an end: evidence, never a result. */
export interface LateEnd {
  readonly settled: 'returned' | 'threw';
  /** Since the call began. */
  readonly afterMs: number;
  readonly summary: string;
}

export interface Assisted {
  readonly value: unknown;
  readonly charge: Ledger;
}
