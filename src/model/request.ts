import type { Json } from '../base/json.ts';
import type { Message } from './message.ts';

/** A JSON Schema as plain data, such as `z.toJSONSchema(…)` makes. Its values are `unknown`, for that is what such makers return. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool as the model gets it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonSchema;
  /** Asks the provider to hold the arguments to the schema, where it can. */
  readonly strict?: boolean;
}

export type ToolChoice = 'auto' | 'required' | 'none' | { readonly name: string };

/** How much the model may think before it answers. */
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high';

/** What a model is asked. Everything but the messages is optional, and nothing is dropped silently: see `checkRequest`. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolDefinition[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  /** A schema for the answer, held by the provider itself. */
  readonly output?: { readonly name: string; readonly schema: JsonSchema; readonly strict?: boolean };
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  readonly reasoning?: { readonly effort?: ReasoningEffort; readonly budgetTokens?: number };
  /** Groups requests that share a prefix, where the provider wants a key for its cache. */
  readonly cacheKey?: string;
  /** Fields for the provider's own body, by provider name: `{ openai: { service_tier: 'flex' } }`. They win over ours. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** The text of a broken answer that the model should continue, where it can: see `Capabilities.continuation`. */
  readonly continueFrom?: string;
}
