import type { Json } from '../../base/json.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Message, ToolCallPart, ToolResultPart } from '../../model/message.ts';
import type { ToolDefinition } from '../../model/request.ts';
import type { ToolEffect } from '../../model/tool.ts';
import type { Usage } from '../../model/usage.ts';
import type { RecoveryName } from '../turn/recovery.ts';
import type { RunEvent } from '../run-event.ts';
import type { PersonRequest, RunOutcome } from '../run-outcome.ts';
import type { ToolEnd } from '../tools/tool-call.ts';

/**
 * Code of the application that is called at points of a run. Its kind says what it may do and what its own failure means: an
 * observer's is noted and the run continues; a transformer's ends its step; a guardrail's means no.
 *
 * @example
 * const noDeletes: Hook = {
 *   name: 'no-deletes',
 *   kind: 'guardrail',
 *   on: { 'before-tool': ({ call }) => (call.name === 'delete' ? { action: 'halt', reason: 'Nothing is deleted here' } : undefined) },
 * };
 */
export type Hook = ObserverHook | TransformerHook | GuardrailHook;

/** Sees everything and changes nothing. It never delays a run: what it is slow about is queued, within a bound. */
export interface ObserverHook extends HookFacts {
  readonly kind: 'observer';
  readonly on: { readonly [Point in HookPoint]?: Handler<Point, void> };
  /** Every event of every run but the pieces of text. */
  readonly onEvent?: (event: RunEvent, about: EventSource) => void | Promise<void>;
}

/** Changes the moment, or answers in its place. */
export interface TransformerHook extends HookFacts {
  readonly kind: 'transformer';
  readonly on: { readonly [Point in TransformerPoint]?: Handler<Point, TransformerAnswer<Point>> };
}

/** Says no. It is asked after all transformers, so it sees what will really be done. */
export interface GuardrailHook extends HookFacts {
  readonly kind: 'guardrail';
  readonly on: { readonly [Point in GuardrailPoint]?: Handler<Point, GuardrailAnswer> };
}

interface HookFacts {
  readonly name: string;
  /** How long one answer may take. Default 5,000. */
  readonly timeoutMs?: number;
}

type Handler<Point extends HookPoint, Answer> = (
  moment: Moments[Point],
  context: HookContext,
) => Answer | Promise<Answer>;

/** What a hook is given besides the moment. */
export interface HookContext {
  /** Aborts when no caller waits for the answer any more: its time is over, or the run was cancelled. */
  readonly signal: AbortSignal;
}

/** Which run an event belongs to. */
export interface EventSource {
  readonly runId: string;
  readonly agent: string;
}

export type HookKind = Hook['kind'];
export type HookPoint = keyof Moments;
export type TransformerPoint = keyof Changes;
export type GuardrailPoint = Exclude<HookPoint, 'run-end' | 'failure' | 'recovery'>;
export type SkipPoint = keyof StandIns;

/** What a hook receives at each point. Plain data, to be read only. */
export interface Moments {
  'run-start': MomentFacts & { readonly input: readonly Message[] };
  'run-end': MomentFacts & { readonly outcome: RunOutcome };
  /** Once per turn, not per attempt: what is decided here holds for every retry. */
  'before-model': MomentFacts & { readonly request: HookRequest };
  'after-model': MomentFacts & { readonly result: HookResult };
  'before-tool': MomentFacts & { readonly call: HookCall };
  'after-tool': MomentFacts & { readonly call: HookCall; readonly end: ToolEnd };
  failure: MomentFacts & { readonly failure: Failure };
  recovery: MomentFacts & { readonly recovery: HookRecovery };
  /** A person is about to be asked. */
  approval: MomentFacts & { readonly request: PersonRequest };
}

interface MomentFacts {
  readonly runId: string;
  readonly agent: string;
  /** From 1; 0 before the first turn. */
  readonly turn: number;
}

/** What the model is about to be asked. */
export interface HookRequest {
  readonly messages: readonly Message[];
  readonly instructions?: string;
  readonly tools: readonly ToolDefinition[];
}

/** What the model answered. Without tool calls it is a final answer. */
export interface HookResult {
  readonly text: string;
  readonly toolCalls: readonly ToolCallPart[];
  readonly usage: Usage;
}

/** A tool call that is about to run, or has run. */
export interface HookCall {
  readonly callId: string;
  readonly name: string;
  readonly input: Json;
  readonly effect: ToolEffect;
}

/** What is done about a failure. */
export interface HookRecovery {
  readonly failure: Failure;
  readonly recovery: RecoveryName;
  readonly reason: string;
  readonly delayMs?: number;
}

/** What a transformer may change, by point. */
export interface Changes {
  'run-start': { readonly messages: readonly Message[] };
  /** For this request only: the conversation itself stays as it is. */
  'before-model': { readonly messages?: readonly Message[]; readonly instructions?: string };
  /** Final answers only: a text beside tool calls is not an answer. */
  'after-model': { readonly text: string };
  'before-tool': { readonly input: Json };
  'after-tool': { readonly content: ToolResultPart['content'] };
}

/** What a transformer may put in the place of the whole step, by point. */
export interface StandIns {
  /** The model is not asked; this is its answer. */
  'before-model': { readonly text: string };
  /** The tool is not run; this is its result. */
  'before-tool': { readonly content: ToolResultPart['content'] };
}

/** Nothing to say. So is an answer of nothing at all. */
export interface Continue {
  readonly action: 'continue';
}

/** A guardrail's no. At a tool call and at an approval it denies that call; elsewhere it stops the run. */
export interface Halt {
  readonly action: 'halt';
  /** For the caller that reads the outcome, and for the model where it is a tool call. */
  readonly reason: string;
}

export type TransformerAnswer<Point extends TransformerPoint> =
  | void
  | Continue
  | ({ readonly action: 'modify' } & Changes[Point])
  | (Point extends SkipPoint ? { readonly action: 'skip' } & StandIns[Point] : never);

export type GuardrailAnswer = void | Continue | Halt;

/** What all hooks at one point came to. */
export type HookVerdict<Point extends HookPoint = HookPoint> =
  /** `moment` is what the transformers made of it, the same object where `modifiedBy` is empty. */
  | { readonly type: 'continue'; readonly moment: Moments[Point]; readonly modifiedBy: readonly string[] }
  | (Point extends SkipPoint
      ? { readonly type: 'skip'; readonly hook: string; readonly standIn: StandIns[Point] }
      : never)
  /** A transformer failed: its step ends. */
  | { readonly type: 'failed'; readonly hook: string; readonly failure: Failure }
  /** A guardrail said no (HOOK_TERMINATED) or failed (HOOK_FAILED), which means the same. */
  | { readonly type: 'halt'; readonly hook: string; readonly failure: Failure }
  /** The run's signal. */
  | { readonly type: 'aborted' };
