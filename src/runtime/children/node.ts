import type { RunEvent } from '../../agent/run-event.ts';
import type { CallAnswer, RunState } from '../../agent/state.ts';
import type { CallWait, ChildUse } from '../../agent/tools/tool-call.ts';
import type { Json } from '../../base/json.ts';
import type { Failure } from '../../errors/failure.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { Family } from '../run/family.ts';

/** A call that is not a function of the process but a run of its own, or a question to a person. It may wait outside the process. */
export interface Node {
  /** Who does the work, where it is an agent: so that a change of it is seen when a run is resumed. */
  readonly agent?: AgentParts;
  /** Runs it to an end, or to where it waits. Called again after a crash, a retry and an answer: never does twice what it has done. Never rejects. */
  readonly perform: (call: NodeCall) => NodeEnd | Promise<NodeEnd>;
  /** The run will not continue: what waits for it waits in vain. */
  readonly cancel?: (call: LeftCall) => Promise<void>;
}

/** A call that will not be continued. */
export type LeftCall = Pick<NodeCall, 'parts' | 'state' | 'callId' | 'input'>;

export interface NodeCall {
  /** Of the agent whose run calls. */
  readonly parts: AgentParts;
  /** Of the run that calls, as it is on record. */
  readonly state: RunState;
  readonly callId: string;
  readonly input: Json;
  /** From 1. */
  readonly attempt: number;
  /** It waited, and the run was resumed. */
  readonly answer: CallAnswer | undefined;
  readonly signal: AbortSignal;
  /** Of the time of the run, and of the node's own. */
  readonly leftMs: number;
  readonly family: Family;
  /** Runs above the one that calls. */
  readonly depth: number;
  /** What is done once the calling run is not needed any more. */
  readonly onForgotten: (forget: () => void) => void;
  /** Passes on what a run below reports, also where nothing listens yet: a subscriber may come late. */
  readonly tell: (childId: string, event: RunEvent) => void;
}

/** How a node ended, or what it waits for. */
export type NodeEnd = { readonly child?: ChildUse } & (
  | { readonly type: 'ok'; readonly content: string }
  | { readonly type: 'failed'; readonly failure: Failure }
  | { readonly type: 'waiting'; readonly wait: CallWait }
);
