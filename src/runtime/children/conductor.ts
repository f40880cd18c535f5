import type { RecordedCall, Rung } from '../../agent/conducted.ts';
import type { NodeReport, RunOutcome, StopReason } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Message } from '../../model/message.ts';
import type { FunctionBounds } from '../hooks/call-function.ts';

export type { NodeReport } from '../../agent/run-outcome.ts';

/**
 * Decides in the place of a model what a run does next. A flow and a plan are agents with a conductor: the same machine, the
 * same driver, the same journal, with calls that are nodes.
 */
export interface Conductor {
  /**
   * What comes next, by what is on record. The decision itself is a step of the journal, so that functions of the caller may
   * take part in it. It may throw: that ends the run with the failure.
   */
  readonly decide: (view: ConductorView, bounds: FunctionBounds) => ConductorStep | Promise<ConductorStep>;
  /** What it goes by, in words: so that a change of it is seen when a run is resumed. */
  readonly shape?: string;
  /** What became of the nodes, by what is on record; for the outcome. Pure. */
  readonly report: (view: ConductorView, outcome: RunOutcome) => readonly NodeReport[];
}

/** What is on record. */
export interface ConductorView {
  readonly runId: string;
  /** What the run was asked: everything before the first call. */
  readonly task: readonly Message[];
  readonly calls: readonly RecordedCall[];
  /** How often the run was continued after a failure or a cancellation. A failed node of an earlier life may be called again. */
  readonly resumes: number;
}

/** What a conductor wants. */
export type ConductorStep =
  /** Side by side; at least one. */
  | (Overcome & { readonly type: 'call'; readonly calls: readonly ConductorCall[] })
  /** The end of the work. `output` is what the outcome has as its output; the text where it is left out. */
  | (Overcome & { readonly type: 'answer'; readonly text: string; readonly output?: Json })
  | { readonly type: 'fail'; readonly failure: Failure }
  | { readonly type: 'stop'; readonly reason: StopReason; readonly failure: Failure };

/** What is done about failures by going on: each is named once, in the step right after it. */
interface Overcome {
  readonly rungs?: readonly Rung[];
}

export interface ConductorCall {
  readonly name: string;
  readonly input: Json;
}
