import type { RunInput } from '../runtime/run/run-input.ts';
import type { Json } from '../base/json.ts';
import type { Failure } from '../errors/failure.ts';
import type { Schema } from '../model/tool.ts';
import type { RetryOption } from '../resilience/retry-policy.ts';

/** The shape of a flow, as the text says it and as the builder makes it. */
export type FlowShape =
  | { readonly type: 'node'; readonly name: string; readonly at?: number }
  /** One after the other. */
  | { readonly type: 'sequence'; readonly of: readonly FlowShape[] }
  /** Side by side. */
  | { readonly type: 'parallel'; readonly of: readonly FlowShape[] };

/** One node before another: `['a', 'b']` is `a >> b`. */
export type FlowEdge = readonly [from: string, to: string];

/** The other form of a flow: which node comes directly after which. For what `>>` and `|` cannot say. */
export interface FlowEdges {
  readonly type: 'graph';
  readonly edges: readonly FlowEdge[];
}

/** What may be said of a node besides who does the work. */
export interface NodeOptions {
  /** How often and how patiently it is continued after a failure. Not at all by default. */
  readonly retry?: RetryOption;
  /** Of its active time. */
  readonly timeoutMs?: number;
  /** `fail` (the default) ends the flow; `skip` continues without it; `fallback` names an agent that takes its place. */
  readonly onError?: 'fail' | 'skip' | { readonly fallback: string };
  /** Whether it is done at all. */
  readonly when?: (context: FlowContext) => boolean | Promise<boolean>;
  /** What it is asked; by default the task, with the results of those before it. */
  readonly input?: (context: FlowContext) => RunInput | Promise<RunInput>;
  /** What it takes from the one before it: checked when the flow is made, as far as schemas can be compared, and when it runs. */
  readonly accepts?: Schema;
}

/** What a node's own functions receive. */
export interface FlowContext {
  /** What the flow was asked, as a text. */
  readonly task: string;
  /** Of the nodes that stand directly before this one. */
  readonly before: readonly string[];
  /** Of all nodes that have ended. */
  readonly results: Readonly<Record<string, FlowResult>>;
}

export type FlowResult =
  | { readonly status: 'succeeded'; readonly text: string; readonly output: Json }
  | { readonly status: 'failed'; readonly failure: Failure }
  | { readonly status: 'skipped'; readonly reason: string };

/** What a node of a flow is called with, on record. */
export type FlowNodeInput =
  | { readonly do: 'run' }
  /** Not done, and why. */
  | { readonly do: 'skip'; readonly reason: string }
  /** Its own functions, or what it takes, make it impossible. */
  | { readonly do: 'refuse'; readonly failure: Failure };

/** A flow as it was written. */
export type FlowDefinition = {
  readonly name: string;
  /** The names of those who can do the work. */
  readonly agents: readonly string[];
  readonly nodes?: Readonly<Record<string, NodeOptions>> | undefined;
  /** What the shape was read from, so that a message can show the place. */
  readonly text?: string | undefined;
} & (
  | { readonly shape: FlowShape; readonly edges?: undefined }
  | { readonly edges: readonly FlowEdge[]; readonly shape?: undefined }
);

/** A flow, read and checked. `before` holds, per node, those that must have ended first: pure data. */
export interface FlowGraph {
  readonly name: string;
  /** Absent where the flow was given as edges. */
  readonly shape?: FlowShape;
  /** In the order in which they are written, each after those before it; then the fallbacks. */
  readonly nodes: readonly FlowGraphNode[];
  /** The nodes whose results are the flow's: those that nothing follows. */
  readonly last: readonly string[];
}

export interface FlowGraphNode {
  readonly name: string;
  /** Those directly before it. */
  readonly before: readonly string[];
  /** Takes the place of another, and runs only then. `before` is that of the other one. */
  readonly isFallbackOf?: readonly string[];
}
