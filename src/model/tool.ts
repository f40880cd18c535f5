import type { Json } from '../base/json.ts';
import type { FailureCode } from '../errors/codes.ts';
import type { Cause, SideEffect } from '../errors/failure.ts';
import type { JsonSchema } from './request.ts';
import type { StandardSchema } from './schema/standard-schema.ts';

/**
 * What a tool promises about being called again: `read` changes nothing; `idempotent` takes effect once for one
 * `idempotencyKey`; `once` promises nothing, so a call that may have happened is never repeated.
 */
export type ToolEffect = 'read' | 'idempotent' | 'once';

/** Whether a call may run: at once, after a person said yes, or never. */
export type Permission = 'allow' | 'ask' | 'deny';

/** A schema of any library that speaks Standard Schema (zod, valibot, arktype), or plain JSON Schema. */
export type Schema<Value = unknown> = StandardSchema<unknown, Value> | JsonSchema;

/** What a schema lets through. Plain JSON Schema has no type of its own. */
export type Parsed<S> =
  S extends StandardSchema<unknown, infer Value> ? Value : Readonly<Record<string, Json>>;

/** What a tool is given besides its input. */
export interface ToolContext {
  readonly runId: string;
  readonly callId: string;
  /** Aborts at the tool's timeout and when the run is cancelled. A tool that ignores it is left behind. */
  readonly signal: AbortSignal;
  /** The same for every attempt at this call, also after a crash. Hand it to the other side, so that it acts once. */
  readonly idempotencyKey: string;
  /** From 1. More than 1 only for `read` and `idempotent` tools. */
  readonly attempt: number;
  /** Ends the call with words for the model: it should call again, differently. Throws, so nothing after it runs. */
  readonly retry: (hint: string) => never;
  /** Ends the call with a typed failure. Throws, so nothing after it runs. */
  readonly fail: (message: string, details?: FailDetails) => never;
  /** Reports its progress to listeners. */
  readonly progress: (message: string, details?: { readonly done?: number; readonly total?: number }) => void;
  /** One bounded call to the agent's model, on the run's budget. Rejects with a `RerailError` where it fails. */
  readonly assist: <S extends Schema = never>(
    prompt: string,
    schema?: S,
  ) => Promise<[S] extends [never] ? string : Parsed<S>>;
  /**
   * Asks a person, and gives back what they said. Where no person has answered yet it rejects, and the call ends there: let that pass. The run
   * is suspended (`clarification`) and, once it is answered, the tool is called again from its start; the same question then has its
   * answer. So ask before you change anything, or `remember` what you have done.
   */
  readonly ask: (question: string) => Promise<string>;
  /** Work that continues after the call has ended. Its result reaches the model as a message at a later turn. */
  readonly background: (label: string, work: Promise<unknown>) => void;
  /**
   * Keeps a short text under a name, for the later calls of this run in whatever process they are made: it is written down with the result
   * of this call, so only where the call goes well, or with what it asks a person. Throws where name or text has more than 1,000 characters.
   */
  readonly remember: (name: string, text: string) => void;
  /** What was last remembered under this name. Nothing where it never was, or is not among the latest 500 names any more. */
  readonly recall: (name: string) => string | undefined;
}

/** What a tool may say about a failure of its own. */
export interface FailDetails {
  readonly code?: FailureCode;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly sideEffect?: SideEffect;
  readonly hint?: string;
  readonly context?: Readonly<Record<string, Json>>;
  /** What was thrown underneath. A developer finds it, with its stack, among the causes of the failure. */
  readonly cause?: unknown;
}

/** The names of `FailDetails`. */
export const failNames = [
  'code',
  'retryable',
  'retryAfterMs',
  'sideEffect',
  'hint',
  'context',
  'cause',
] as const satisfies readonly (keyof FailDetails)[];

/** What `verify` found out about a call whose end is unknown. */
export type Verified =
  | { readonly happened: true; readonly result?: unknown }
  | { readonly happened: false }
  /** It cannot tell either. */
  | { readonly happened: 'unknown' };

/** What `classifyError` says about something that the tool threw. Nothing: it does not know it. */
export interface ErrorVerdict extends FailDetails {
  readonly message?: string;
}

/** How often the same call with the same result may come before it counts as a loop. */
export type Repeats = number | 'any';

/** A tool as the agent holds it: checked, with its schema as the model sees it. Made by `tool()`. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** The input as JSON Schema, as the model gets it. */
  readonly parameters: JsonSchema;
  /** Asks the provider to hold the arguments to the schema, where it can. */
  readonly strict?: boolean;
  readonly effect: ToolEffect;
  readonly timeoutMs: number;
  readonly permission: Permission;
  /** The longest result that the model is shown, in characters. */
  readonly maxResultCharacters: number;
  readonly repeats?: Repeats;
  /** Calls of this tool and others that name the same resource run one after the other. */
  readonly resource?: string | ((input: unknown) => string | undefined);
  /** A failure of this tool ends the run instead of being reported to the model. */
  readonly onError?: 'tell' | 'abort';
  /** Checks an input as the schema asks. Never throws, never repairs, never coerces beyond what the schema says. */
  readonly parse: (input: Json) => InputCheck | Promise<InputCheck>;
  readonly execute: (input: unknown, context: ToolContext) => unknown;
  readonly verify?: (input: unknown, context: ToolContext) => unknown;
  readonly classifyError?: (error: unknown) => ErrorVerdict | undefined;
}

/** An input that the schema lets through, or what it objects to, path by path. */
export type InputCheck = { readonly type: 'valid'; readonly value: unknown } | InvalidInput;

/** What a schema objects to. */
export interface InvalidInput {
  readonly type: 'invalid';
  readonly issues: readonly SchemaIssue[];
  /** What the schema's own code threw, for a developer. */
  readonly causes?: readonly Cause[];
}

/** One objection of a schema. */
export interface SchemaIssue {
  /** `items[2].price`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}
