import type { Json } from '../../base/json.ts';
import type { Failure } from '../../errors/failure.ts';
import type { ToolResultPart } from '../../model/message.ts';
import type { ToolEffect } from '../../model/tool.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import type { Provenance } from '../approval/provenance.ts';
import type { PersonRequest, SuspendReason } from '../run-outcome.ts';

/** A tool call of the model, looked at before anything runs: its arguments read, its permission decided. All JSON. */
export type PreparedCall = {
  readonly callId: string;
  readonly name: string;
} & (
  | {
      readonly type: 'ready';
      /** The arguments as the model meant them, before the schema turned them into values of its own. */
      readonly input: Json;
      readonly effect: ToolEffect;
      readonly permission: 'allow' | 'ask';
      /** Why it is asked, in words for the person: the rule that asks. */
      readonly why?: string;
      /** What a person who decides about it must not overlook, such as letters that are drawn like others. */
      readonly warning?: string;
      /** Of the tool's name and its canonical arguments: what an approval is bound to, and how repeats are known. */
      readonly hash: string;
      /** The model's text was no JSON, and the one reading that it has was taken. */
      readonly isRepaired?: true;
      /** A person approved it with other arguments: what the model had asked for. `input` and `hash` are of what runs. */
      readonly asked?: AskedCall;
      readonly repeats?: number | 'any';
      readonly onError?: 'tell' | 'abort';
      /** What the tool has asked a person, and what they said, the oldest first. Absent where it never asked. */
      readonly replies?: readonly Reply[];
      /** Of a run that came from elsewhere: it was proposed or approved here, after the run had come. */
      readonly provenance?: Provenance;
    }
  /** Not run: unknown tool, bad arguments, forbidden, one too many. */
  | { readonly type: 'refused'; readonly end: ToolEnd }
);

/** A call as the model asked for it, where a person changed its arguments. */
export interface AskedCall {
  readonly input: Json;
  readonly hash: string;
}

/** How one call of a tool ended. All JSON: this is what the journal holds and the model reads. */
export interface ToolEnd {
  readonly callId: string;
  readonly name: string;
  readonly type: 'ok' | 'failed' | 'retry' | 'denied' | 'unknown';
  /** What the model reads: the result, or corrective words. */
  readonly content: ToolResultPart['content'];
  /** Absent for `ok` and `retry`. */
  readonly failure?: Failure;
  /** Of what came back, so that two results can be compared without keeping them. */
  readonly resultHash: string;
  readonly durationMs: number;
  /** What `assist` used up. */
  readonly charge?: Ledger;
  readonly child?: ChildUse;
  /** What the tool wants the run to keep for it. Of an `ok` end only. */
  readonly remembered?: readonly Remembered[];
  /** The result was longer than the model is shown; so many characters in all. */
  readonly totalCharacters?: number;
}

/** The run that a call was, with all that it has used up so far. */
export interface ChildUse {
  readonly runId: string;
  readonly ledger: Ledger;
  /** What it did, as a list; absent where that was nothing. */
  readonly effects?: string;
  /** A conversation that it was handed, whose effects are in the list too: what the run above was asked, or that and all since. */
  readonly handed?: 'task' | 'all';
}

/** A call that has not ended: it is a run of its own, and something outside must come first. */
export interface WaitingEnd {
  readonly callId: string;
  readonly name: string;
  readonly type: 'waiting';
  readonly wait: CallWait;
  readonly child?: ChildUse;
}

/** A call that was not begun: by the rules of this moment, a person must be asked about it first. */
export interface AskFirstEnd {
  readonly callId: string;
  readonly name: string;
  readonly type: 'ask-first';
  /** When that was found, in milliseconds since 1970: the question stands from there on. */
  readonly wallMs: number;
  /** The call as it is judged now. */
  readonly call: Extract<PreparedCall, { type: 'ready' }>;
}

/** A call that has not ended: its tool asks a person, and is called again once they have answered. */
export interface QuestionEnd extends ToolQuestion {
  readonly callId: string;
  readonly name: string;
  readonly type: 'asks';
  readonly durationMs: number;
  /** What `assist` used up before. */
  readonly charge?: Ledger;
  /** What it had remembered by then: so that it does not do that again. */
  readonly remembered?: readonly Remembered[];
}

/** Whether a call has ended: neither it nor its tool waits for anybody. */
export function isEnded(end: ToolEnd | WaitingEnd | AskFirstEnd | QuestionEnd): end is ToolEnd {
  return end.type !== 'waiting' && end.type !== 'ask-first' && end.type !== 'asks';
}

/** What a tool asks a person. */
export interface ToolQuestion {
  readonly question: string;
  /** The tool is not called again: what the person says is its result. */
  readonly isResult?: true;
}

/** What a person said to a question of a tool. */
export interface Reply extends ToolQuestion {
  readonly text: string;
  /** Of a run that came from elsewhere: it was said here. */
  readonly provenance?: Provenance;
}

/** What a call waits for outside the process, as its own run would say it. */
export interface CallWait {
  readonly reason: SuspendReason;
  /** Milliseconds since 1970. */
  readonly resumeAt?: number;
  readonly request?: PersonRequest;
  readonly failure?: Failure;
}

/** What a tool has remembered for the later calls of the run. */
export interface Remembered {
  readonly name: string;
  readonly text: string;
}
