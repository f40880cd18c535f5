import type { RunConfig } from '../agent/config.ts';
import type { RunEvent } from '../agent/run-event.ts';
import type { PermissionRules } from '../agent/approval/permission.ts';
import type { Clock, Random } from '../base/clock.ts';
import type { ContextBudget, ContextRules } from '../context/context-options.ts';
import type { ConfinementLevel } from '../model/confinement.ts';
import type { Model } from '../model/model.ts';
import type { ModelRequest } from '../model/request.ts';
import type { ReadSchema } from '../model/schema/schema.ts';
import type { Store } from '../model/store/store.ts';
import type { StrayErrors } from '../model/stray-errors.ts';
import type { Timeouts } from '../model/timeouts.ts';
import type { RetryPolicy } from '../resilience/retry-policy.ts';
import type { AgentCallbacks } from './watch/callbacks.ts';
import type { Conductor } from './children/conductor.ts';
import type { Gates } from './model-call/gates.ts';
import type { HistoryRules } from './run/history-options.ts';
import type { HookRunner } from './hooks/hooks.ts';
import type { LeftBehind } from './tool-call/left-behind.ts';
import type { Node } from './children/node.ts';
import type { SelectModel } from './run/select-effect.ts';
import type { Setup } from './setup.ts';
import type { TokenMeter } from './run/token-meter.ts';
import type { ToolRegistry } from './tool-call/tool-registry.ts';

/** Fields of a request that an agent sets for all of its calls. */
export type ModelSettings = Omit<
  ModelRequest,
  'messages' | 'tools' | 'toolChoice' | 'output' | 'continueFrom' | 'parallelToolCalls'
>;

/** The rules, and what no compaction can save. */
export interface ContextParts {
  readonly rules: ContextRules;
  readonly budget: ContextBudget | undefined;
  /** Counted when first asked for. */
  readonly fixedTokens: () => number;
  /** A function of the caller counts: it is asked in a step of its own before each call of a model, for the driver must not wait for it. */
  readonly isCounted?: true;
  /** Counts with that function. */
  readonly meter?: TokenMeter;
}

/** An agent, checked and resolved: what all of its runs share. */
export interface AgentParts {
  readonly name: string;
  readonly models: readonly Model[];
  readonly instructions: string;
  readonly settings: ModelSettings;
  /** Chooses the model that a call begins with. */
  readonly selectModel: SelectModel | undefined;
  readonly registry: ToolRegistry;
  /** Calls that still run although their wait has ended. */
  readonly leftBehind: LeftBehind;
  readonly rules: PermissionRules;
  readonly output: ReadSchema | undefined;
  readonly retry: RetryPolicy;
  readonly fallBackOnFilter: boolean;
  /** What is done about errors that code of the caller leaves to the process. */
  readonly strayErrors: StrayErrors;
  readonly timeouts: Timeouts;
  readonly config: RunConfig;
  readonly hooks: HookRunner;
  /** Answers in the place of a person, where the caller has such a function. */
  readonly approve: AgentCallbacks['onApproval'] | undefined;
  /** Receives every event of every run. */
  readonly listen: ((event: RunEvent, about: { readonly runId: string }) => void | Promise<void>) | undefined;
  /** Where runs outlive the process. */
  readonly store: Store | undefined;
  /** How a conversation is kept within the model's window. */
  readonly context: ContextParts;
  /** What of a session a run begins with. */
  readonly history: HistoryRules;
  /** How long a run is this process's own without a sign of life. */
  readonly leaseMs: number;
  /** What is done when a run is resumed with other code than it was begun with. */
  readonly onChange: 'warn' | 'strict';
  /** What must be there before a run takes its first step in this process. */
  readonly setup: Setup | undefined;
  readonly gates: Gates;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: () => string;
  /** The least sandbox that commands run in, its own and those of agents below. */
  readonly confinement: ConfinementLevel | undefined;
  /** Decides in the place of a model: a flow or a plan. */
  readonly conductor: Conductor | undefined;
  /** Models that are asked beside the conversation: why a run failed, and for `assist`. The agent's own, unless it has none. */
  readonly sideModels: readonly Model[];
  /** Calls that are runs of their own, by the name of the tool. */
  readonly nodes: ReadonlyMap<string, Node> | undefined;
}
