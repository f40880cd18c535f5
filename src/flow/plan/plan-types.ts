import type { Json } from '../../base/json.ts';
import type { Failure, SideEffect } from '../../errors/failure.ts';
import type { FailureCode, Severity } from '../../errors/codes.ts';
import type { StandardSchema } from '../../model/schema/standard-schema.ts';
import type { Permission, Schema, ToolContext, ToolEffect, Verified } from '../../model/tool.ts';
import type { RetryOption } from '../../resilience/retry-policy.ts';

/** Named values, each with a schema. */
export type Values = Readonly<Record<string, Schema>>;

/** None. */
export type NoValues = Readonly<Record<string, never>>;

/** What values of these schemas are. Plain JSON Schema has no type of its own. */
export type ParsedValues<V extends Values> = {
  readonly [Name in keyof V]: V[Name] extends StandardSchema<unknown, infer Value> ? Value : Json;
};

/** What `execute` gives back: its values, or nothing where it provides none. */
export type ProvidedValues<V extends Values> = [V[keyof V]] extends [never] ? void | object : ParsedValues<V>;

/** One thing that a plan can do: what it needs of the steps before it, and what it gives to those after it. */
export interface CapabilityOptions<Requires extends Values, Provides extends Values> {
  readonly name: string;
  /** For the classifier and the planner: when it is the right one. */
  readonly description: string;
  readonly requires?: Requires;
  readonly provides?: Provides;
  /** As a tool's: what a crash in the middle means. `once` by default. */
  readonly effect?: ToolEffect;
  readonly timeoutMs?: number;
  /** `ask`: a person is asked before the step is taken. */
  readonly permission?: Permission;
  /** Of the failures that it calls retriable. Only where `effect` is `read` or `idempotent`: nothing else is repeated. */
  readonly retryPolicy?: RetryOption;
  readonly execute: (
    values: ParsedValues<Requires>,
    context: CapabilityContext,
  ) => ProvidedValues<Provides> | Promise<ProvidedValues<Provides>>;
  /** What a failure means for the plan. Nothing: the table of codes says it. */
  readonly classifyError?: (error: unknown) => CapabilityVerdict | undefined;
  /** Settles a step of which it is unknown whether it was taken. */
  readonly verify?: (
    values: ParsedValues<Requires>,
    context: CapabilityContext,
  ) => Verified | Promise<Verified>;
}

/** What a capability is given besides its values. */
export interface CapabilityContext extends ToolContext {
  /** What the whole run is for. */
  readonly task: string;
  /** What this step is for, in the planner's words. */
  readonly objective: string;
}

/** What a capability says about something that it threw. */
export interface CapabilityVerdict {
  readonly severity?: Severity;
  readonly code?: FailureCode;
  readonly message?: string;
  readonly retryAfterMs?: number;
  readonly sideEffect?: SideEffect;
  /** For the report: technical_details, suggestions, required_context and whatever else helps. Redacted. */
  readonly metadata?: Readonly<Record<string, Json>>;
}

/** A capability as a plan holds it. */
export interface Capability {
  readonly name: string;
  readonly description: string;
  /** Names of values. */
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly options: CapabilityOptions<Values, Values>;
}

/** One step of a plan. */
export interface PlanStep {
  /** Its name in the plan, unique: later steps refer to its values by it. */
  readonly key: string;
  readonly capability: string;
  readonly objective: string;
  /** For each required value: the key of the step that provides it. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** How a plan works. */
export interface PlanDefinition {
  readonly name: string;
  readonly capabilities: readonly Capability[];
  /** The whole plan before the first step, or the next step after each. */
  readonly mode: 'plan-first' | 'step-by-step';
  /** One question about all capabilities, or one about each. */
  readonly classify: 'together' | 'each';
  /** A person says yes to a plan before its first step. */
  readonly approvePlan: boolean;
  /** A model says what the conversation asks for; otherwise the last message of the user is the task. */
  readonly extractTask: boolean;
  readonly limits: PlanLimits;
}

/** The bounds of a plan. Each can be reached alone. */
export interface PlanLimits {
  /** Steps of a run, finished ones included. */
  readonly maxSteps: number;
  /** New plans because of failed or denied steps and denied plans. */
  readonly maxReplans: number;
  /** New choices of capabilities. */
  readonly maxReclassifications: number;
  /** Questions to the person. */
  readonly maxClarifications: number;
  /** How often a model is asked again for an answer that cannot be used. */
  readonly maxPlanAttempts: number;
}

/** What a plan has come to, by what is on record. Pure data, folded from the calls. */
export interface PlanProgress {
  readonly task: string | undefined;
  /** Chosen by the classifier. */
  readonly chosen: readonly string[] | undefined;
  readonly steps: readonly PlanStep[] | undefined;
  readonly isApproved: boolean;
  /** Values by step: `values[key][name]`. Of finished steps, those of earlier plans included. */
  readonly values: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** Keys of steps that are done, in order. */
  readonly done: readonly string[];
  /** The steps themselves. */
  readonly finished?: readonly PlanStep[];
  readonly failed: readonly FailedStep[];
  readonly replans: number;
  readonly reclassifications: number;
  /** What the person said to the clarifier's questions. */
  readonly clarifications: readonly { readonly question: string; readonly answer: string }[];
}

export interface FailedStep {
  readonly step: PlanStep;
  readonly failure: Failure;
  readonly severity: Severity;
}

/**
 * A node that asks a model: two pure functions. The asking itself is a run of an agent without tools, so that retries, budget,
 * re-asking and the journal are the machine's.
 */
export interface PlanNode<Meaning> {
  readonly name: string;
  /** What to ask: instructions, prompt, and the form of the answer. */
  readonly ask: (about: PlanAbout) => PlanQuestion;
  /** What the answer means, or why it cannot be used. */
  readonly read: (answer: Json, about: PlanAbout) => Meaning | { readonly problem: string };
}

export interface PlanQuestion {
  readonly instructions: string;
  readonly prompt: string;
  /** JSON Schema of the answer; a plain text where it is left out. */
  readonly form?: Readonly<Record<string, unknown>>;
}

/** What a node knows. */
export interface PlanAbout {
  readonly conversation: string;
  readonly capabilities: readonly Pick<Capability, 'name' | 'description' | 'requires' | 'provides'>[];
  readonly progress: PlanProgress;
  /** Of `classify: 'each'`: the one that is asked about. */
  readonly subject?: string;
  /** What was wrong with the last answer of this node. */
  readonly problem?: string;
  /** Why it is chosen or planned again. */
  readonly because?: string;
  /** The person may still be asked. */
  readonly mayAsk: boolean;
  /** Steps that may still be taken. */
  readonly stepsLeft: number;
}
