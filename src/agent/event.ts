import type { Json } from '../base/json.ts';
import type { Failure } from '../errors/failure.ts';
import type { Compaction } from '../model/compaction.ts';
import type { Message } from '../model/message.ts';
import type { PartialResult } from '../model/model.ts';
import type { StepEnd } from '../resilience/call-progress.ts';
import type { Ledger } from '../resilience/ledger.ts';
import type { Rung } from './conducted.ts';
import type { RunConfig } from './config.ts';
import type { OutputCheck } from './turn/output.ts';
import type { StopReason } from './run-outcome.ts';
import type { Action } from './action.ts';
import type { Provenance } from './approval/provenance.ts';
import type { AskFirstEnd, PreparedCall, QuestionEnd, ToolEnd, WaitingEnd } from './tools/tool-call.ts';

/** What one attempt at a model brought: the answer, and what it means to this agent. */
export interface Answer extends PartialResult {
  /** Of a whole answer with tool calls: what each of them comes to. */
  readonly prepared?: readonly PreparedCall[];
  /** Of a whole answer without calls, where the output has a schema. */
  readonly check?: OutputCheck;
  /** Of a whole answer without calls: a caller has put a message into the run meanwhile, so it is not the last word. */
  readonly isOvertaken?: true;
}

/** What happened, as the journal has it. Time and chance arrive in it as numbers. */
export type MachineEvent =
  | {
      readonly type: 'run-started';
      readonly runId: string;
      readonly config: RunConfig;
      readonly messages: readonly Message[];
      readonly repairs: readonly string[];
    }
  | {
      readonly type: 'attempt-finished';
      readonly step: StepEnd<Answer>;
      /** Messages that came from outside and went out with this attempt. */
      readonly injected?: readonly Message[];
      /** The provider refused the conversation as too long: how it could be made shorter. */
      readonly made?: CompactionMade;
    }
  /** Before a model was asked: too little room was left for its answer. */
  | { readonly type: 'compacted'; readonly made: CompactionMade; readonly tookMs: number }
  /** Before a model was asked: a function chose the one to begin with. */
  | { readonly type: 'model-selected'; readonly target: number; readonly tookMs: number }
  | { readonly type: 'waited'; readonly tookMs: number }
  | { readonly type: 'tools-finished'; readonly ends: readonly AttemptedCall[]; readonly tookMs: number }
  | { readonly type: 'tools-verified'; readonly found: readonly VerifiedCall[]; readonly tookMs: number }
  /** A person, or a callback in his place, answered; or no answer came in time. */
  | {
      readonly type: 'person-answered';
      readonly answer: PersonAnswer;
      readonly wallMs: number;
      /** Of a run that came from elsewhere: it was answered here. */
      readonly provenance?: Provenance;
    }
  /** No one in this process can answer. */
  | { readonly type: 'person-absent' }
  | {
      readonly type: 'resumed';
      readonly answer: PersonAnswer;
      readonly wallMs: number;
      readonly config: RunConfig;
      /** Of a run that came from elsewhere: it was resumed here. */
      readonly provenance?: Provenance;
    }
  /** A run that was imported continues here for the first time, with limits and rules of this agent. */
  | {
      readonly type: 'adopted';
      readonly config: RunConfig;
      readonly wallMs: number;
      readonly provenance: Provenance;
      /** What was about to be done. */
      readonly work: Action;
    }
  /** A hook answered in the place of a model, or a flow or a plan did: nothing was sent. */
  | {
      readonly type: 'answer-given';
      readonly answer: Answer;
      /** Of a flow or a plan: what it does about failures by going on. */
      readonly rungs?: readonly Rung[];
      /** Of a flow or a plan, which asks no model that would tell the time. */
      readonly wallMs?: number;
    }
  | BrokenOff;

/** How a conversation is made shorter, and what it took to find out. */
export interface CompactionMade {
  /** Absent where nothing can be saved. */
  readonly compaction?: Compaction;
  /** What was wanted was not available, and something simpler was done. */
  readonly failure?: Failure;
  /** What asking for a summary has used up. */
  readonly charge?: Ledger;
  /** Of a conversation that a provider refused. Absent in older records: such a run made it shorter once, then failed. */
  readonly refused?: RefusedSize;
}

/** How long a conversation was that a provider refused, by estimate. */
export interface RefusedSize {
  readonly tokens: number;
  /** Of them instructions, tools and the like, which no compaction saves. */
  readonly fixedTokens: number;
}

/** What ends a run wherever it is. */
export type BrokenOff = {
  /** The attempt at a model that had just ended, so that what it used up counts. */
  readonly step?: StepEnd<Answer>;
} & (
  | {
      /** A guardrail said no, or a flow or a plan stops itself: then it says why. */
      readonly type: 'halted';
      readonly failure: Failure;
      readonly reason?: StopReason;
    }
  | {
      /** A hook or a part of ours broke: nothing that could be climbed. */
      readonly type: 'broken';
      readonly failure: Failure;
    }
  | { readonly type: 'cancelled' }
);

/** The end of one call's attempt, by its place in the turn. */
export interface AttemptedCall {
  readonly index: number;
  readonly end: ToolEnd | WaitingEnd | AskFirstEnd | QuestionEnd;
  /** In [0, 1): spreads a retry. */
  readonly drawn: number;
}

/** A call that needs no more: it was settled before it ran. */
export interface SettledCall extends AttemptedCall {
  readonly end: ToolEnd;
}

export interface VerifiedCall {
  readonly index: number;
  readonly found:
    | { readonly type: 'happened'; readonly end: ToolEnd }
    | { readonly type: 'did-not-happen' }
    | { readonly type: 'unknown'; readonly failure: Failure };
}

/** `given: false`: no person answered. */
export type PersonAnswer = { readonly given: false } | { readonly given: true; readonly value: Json };
