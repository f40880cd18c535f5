import type { ToolChoice } from '../model/request.ts';
import type { Permission, Repeats, ToolEffect } from '../model/tool.ts';
import type { Asked } from '../resilience/call-failures.ts';
import type { RetryPolicy } from '../resilience/retry-policy.ts';
import type { RunLimits } from './limits.ts';
import type { LoopRules } from './turn/loop-guard.ts';

/** All that the machine knows of the agent. It is JSON and is in the journal: the same events give the same state. */
export interface RunConfig {
  readonly agent: string;
  readonly models: readonly Asked[];
  readonly limits: RunLimits;
  readonly retry: RetryPolicy;
  readonly loop: LoopRules;
  /** Whether a last turn without tools may give an answer when a limit is reached. */
  readonly salvage: boolean;
  /** A call of which it is unknown whether it happened: ask a person, or tell the model. */
  readonly inDoubt: 'ask' | 'tell';
  /** Whether the answer has a schema. */
  readonly hasOutput: boolean;
  /** A function decides in the place of a model: the calls are nodes of a flow or a plan, and no rule about models fits. */
  readonly isConducted?: true;
  /** Whether a model is asked why the run failed or was stopped; never where it is left out. */
  readonly explain?: 'auto' | 'always';
  readonly tools: Readonly<Record<string, ToolFacts>>;
  /** What the model must do about tools: `none` for the whole run, a forced call for its first answer. The model decides where it is left out. */
  readonly toolChoice?: ToolChoice;
}

/** What the machine knows of a tool. */
export interface ToolFacts {
  readonly effect: ToolEffect;
  readonly permission: Permission;
  readonly canVerify: boolean;
  /** What it demands of its sandbox: an approval is bound to it. */
  readonly level?: string;
  readonly repeats?: Repeats;
  readonly onError: 'tell' | 'abort';
  /** Of this tool alone, where it has its own. */
  readonly retry?: RetryPolicy;
  /** The run ends with its result. */
  readonly isLast?: true;
  /** It is a run of its own, or a word to a caller. Runs that were started before this was noted are reported as they were then. */
  readonly isNode?: true;
  /** Handed in for this run alone: a resume in another process needs it again. */
  readonly isOfRun?: true;
}
