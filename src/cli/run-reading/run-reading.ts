import type { Provenance } from '../../agent/approval/provenance.ts';
import type { RecoveryName } from '../../agent/turn/recovery.ts';
import type {
  PersonRequest,
  RunOutcome,
  RunUsage,
  StopReason,
  SuspendReason,
} from '../../agent/run-outcome.ts';
import type { ToolEnd } from '../../agent/tools/tool-call.ts';
import type { Failure } from '../../errors/failure.ts';
import type { RunRow } from '../../model/store/store.ts';
import type { ToolEffect } from '../../model/tool.ts';
import type { NodeFacts, ReadNode } from './read-nodes.ts';
import type { SandboxLevel } from '../../tools/sandbox/sandbox.ts';

/** A stored run, read once, for every report about it. Its texts are redacted and bounded. */
export interface RunReading {
  /** What the store lists of it. */
  readonly row: RunRow;
  /** Where its record came from; absent where it was written here. */
  readonly origin?: RunOrigin;
  /** What was asked, its beginning. */
  readonly asked: string;
  /** The chain of models that it was last carried on with, as `provider:model`. */
  readonly models: readonly string[];
  /** Of a flow, a hand-off, a plan or a team: what became of the runs below it. */
  readonly nodes: readonly ReadNode[];
  /** A flow or a plan: a function decides in the place of a model. */
  readonly isConducted: boolean;
  /** What happened, in order. */
  readonly items: readonly ReadItem[];
  /** Of what was read. */
  readonly usage: RunUsage;
  readonly turns: number;
  /** What it was doing at the last event. */
  readonly phase: string;
  /** How it ended or what it waits for, by its record. */
  readonly outcome?: RunOutcome;
  /** Messages to it that no process has read yet. */
  readonly pending: readonly PendingSignal[];
  /** One sentence for each stored event. */
  readonly events: readonly ReadEvent[];
  /** From some event on it could not be read. */
  readonly trouble?: Failure;
}

/** Where a record came from, without the id that marks what was decided here. A fork of a run of this store is no such record. */
export interface RunOrigin extends Omit<Provenance, 'id'> {
  readonly type: Exclude<Provenance['type'], 'forked'>;
}

/** A message to the run that waits in the store: an answer, a text, a cancel request. */
export interface PendingSignal {
  readonly name: string;
  readonly atMs: number;
}

/** A stored event in a sentence. */
export interface ReadEvent {
  readonly seq: number;
  readonly atMs: number;
  readonly type: string;
  readonly text: string;
}

/** A place in the record. */
export interface Place {
  /** Numbers of the stored events behind it, ascending. Never empty. */
  readonly seqs: readonly number[];
  /** When it was over. Milliseconds since 1970. */
  readonly atMs: number;
  readonly turn: number;
}

/** One thing that happened. */
export type ReadItem = Place & ItemBody;

/** What it was. */
export type ItemBody =
  | { readonly type: 'began'; readonly how: 'start' | 'resume' | 'carry-on'; readonly generation: number }
  | { readonly type: 'turn'; readonly purpose: 'turn' | 'salvage' }
  /** A flow or a plan decided what comes next: calls, an answer, or the end. */
  | { readonly type: 'conduct'; readonly calls: readonly string[]; readonly failure?: Failure }
  /** A call that is a run of its own waits outside the process. */
  | {
      readonly type: 'node-waits';
      readonly node: string;
      readonly reason: SuspendReason;
      readonly runId?: string;
    }
  | AttemptBody
  /** What was decided about a failure, and why. */
  | {
      readonly type: 'decision';
      readonly recovery: RecoveryName;
      readonly reason: string;
      readonly failure: Failure;
      readonly delayMs?: number;
    }
  | WaitBody
  /** Another model is asked than before. */
  | { readonly type: 'switch'; readonly from: string; readonly to: string; readonly why: string }
  | ToolBody
  | { readonly type: 'verified'; readonly tool: string; readonly found: string }
  | { readonly type: 'question'; readonly request: PersonRequest }
  | {
      readonly type: 'answer';
      readonly id: string;
      readonly verdict: string;
      readonly reason: string;
      /** A person changed the arguments. */
      readonly changed?: ChangeTexts;
      /** How long the question had stood. */
      readonly afterMs?: number;
    }
  | {
      readonly type: 'compaction';
      /** Absent where nothing could be saved. */
      readonly strategy?: string;
      readonly why: 'budget' | 'overflow';
      readonly tokensBefore?: number;
      readonly tokensAfter?: number;
      readonly failure?: Failure;
    }
  | { readonly type: 'limit'; readonly limit: string; readonly reason: StopReason }
  | { readonly type: 'tool-withdrawn'; readonly tool: string; readonly why: string }
  | { readonly type: 'tool-restored'; readonly tool: string }
  | { readonly type: 'hook'; readonly point: string; readonly verdict: string }
  | { readonly type: 'injected'; readonly messages: number }
  | {
      readonly type: 'suspended';
      readonly reason: SuspendReason;
      readonly resumeAt?: number;
      readonly request?: PersonRequest;
    }
  | { readonly type: 'resumed'; readonly afterMs?: number }
  /** `crashes: 0`: by hand. */
  | { readonly type: 'taken-over'; readonly crashes: number }
  | { readonly type: 'parked'; readonly crashes: number }
  | { readonly type: 'changed'; readonly differences: readonly string[] }
  | { readonly type: 'forked'; readonly from: string; readonly seq: number }
  /** `from`: its name in the bundle. `how`: from what file or store, when, and by whom, as far as it is known. */
  | { readonly type: 'imported'; readonly from?: string; readonly how?: string }
  | { readonly type: 'cancelled'; readonly reason: string }
  | { readonly type: 'ended'; readonly status: string; readonly failure?: Failure }
  /** Anything else, in a sentence. */
  | { readonly type: 'note'; readonly text: string };

/** One try at one model. */
export interface AttemptBody {
  readonly type: 'attempt';
  /** From 1, within one call of the turn. */
  readonly attempt: number;
  /** `provider:model`. */
  readonly model: string;
  readonly durationMs: number;
  /** Held back before it, by a breaker or a queue. */
  readonly gateMs: number;
  /** Nothing left the process where it was not admitted. */
  readonly wasSent: boolean;
  readonly isProbe: boolean;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costUsd?: number;
  readonly failure?: Failure;
  /** Names of the tools that the answer calls. */
  readonly calls: readonly string[];
  /** The beginning of the answer. */
  readonly text: string;
}

/** A pause between attempts. */
export interface WaitBody {
  readonly type: 'wait';
  readonly delayMs: number;
  /** Absent while it lasts, and where its end was not seen. */
  readonly tookMs?: number;
  /** Milliseconds since 1970. */
  readonly dueAtMs: number;
  /** Who asked for it: the name of a provider or a tool, or `rerail` where it is our own pause. */
  readonly askedBy: string;
  readonly why: string;
}

/** The arguments of a call before and after a person changed them: compact JSON, its beginning. */
export interface ChangeTexts {
  readonly asked: string;
  readonly askedHash: string;
  readonly approved: string;
  readonly approvedHash: string;
}

/** One attempt at one call of a tool, or why there was none. */
export interface ToolBody {
  readonly type: 'tool';
  readonly callId: string;
  readonly tool: string;
  /** Compact JSON, its beginning. */
  readonly input: string;
  /** What the model had asked for, where a person changed it. */
  readonly askedInput?: string;
  readonly effect?: ToolEffect;
  readonly permission?: 'allow' | 'ask';
  /** Which rule asks. */
  readonly why?: string;
  /** What a person said. */
  readonly answer?: { readonly verdict: string; readonly reason: string };
  /** From 1; 0 where it was not run. */
  readonly attempt: number;
  readonly end: ToolEnd['type'];
  readonly durationMs: number;
  /** The beginning of what the model received. */
  readonly text: string;
  readonly failure?: Failure;
  /** It is a node of a flow or a member of a team. */
  readonly node?: NodeFacts;
  /** What the command ran in, where the result names it. */
  readonly sandbox?: SandboxLevel;
}

/** The items of one type. */
export type ItemOf<Type extends ItemBody['type']> = Place & Extract<ItemBody, { readonly type: Type }>;

/** The latest items of a type first. */
export function latest<Type extends ItemBody['type']>(
  items: readonly ReadItem[],
  type: Type,
): ItemOf<Type> | undefined {
  return items.findLast((item): item is ItemOf<Type> => item.type === type);
}

/** All items of a type, in order. */
export function allOf<Type extends ItemBody['type']>(
  items: readonly ReadItem[],
  type: Type,
): readonly ItemOf<Type>[] {
  return items.filter((item): item is ItemOf<Type> => item.type === type);
}
