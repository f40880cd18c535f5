import type { Fact } from './error-context.ts';
import type { NextStep } from './next-steps.ts';

/** Why a run failed or stopped, complete without any model: text and Markdown, for a person and for a developer. */
export interface ErrorReport {
  /** Where there is an explanation, it follows what is known without it. */
  readonly person: ReportTexts;
  readonly developer: ReportTexts;
  /** The same in a model's words. Absent unless that was asked for and came to something. */
  readonly explanation?: RunExplanation;
}

export interface ReportTexts {
  readonly text: string;
  readonly markdown: string;
}

/** Why a run failed or stopped, written by a model and held to what happened. */
export interface RunExplanation {
  /** All of it, as it is shown. */
  readonly text: string;
  readonly summary: string;
  readonly claims: readonly Claim[];
  /** The best first. */
  readonly nextSteps: readonly NextStep[];
  /** Who wrote it, as `provider/model`. */
  readonly model: string;
}

/** A sentence, with the facts it depends on. */
export interface Claim {
  readonly text: string;
  readonly facts: readonly Fact[];
}
