import type { Hook } from '../agent/hooks/hook.ts';
import { checkHooks } from '../agent/hooks/check-hooks.ts';
import { checkPermissionRules } from '../agent/approval/check-permission-rules.ts';
import { resolveLimits } from '../agent/limits.ts';
import type { RunLimits } from '../agent/limits.ts';
import type { LoopRules } from '../agent/turn/loop-guard.ts';
import type { PermissionRule } from '../agent/approval/permission.ts';
import type { Clock, Random } from '../base/clock.ts';
import { resolveContext } from '../context/context-options.ts';
import type { ContextOptions } from '../context/context-options.ts';
import { defined } from '../base/defined.ts';
import { lazy } from '../base/lazy.ts';
import { systemClock, systemId, systemRandom } from '../base/system.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { checkRequest } from '../model/check/check-request.ts';
import { confinementOf, strictestLevel } from '../model/confinement.ts';
import type { Model } from '../model/model.ts';
import type { ToolChoice } from '../model/request.ts';
import { readSchema } from '../model/schema/schema.ts';
import type { Store } from '../model/store/store.ts';
import type { StrayErrors } from '../model/stray-errors.ts';
import type { Timeouts } from '../model/timeouts.ts';
import type { Schema, Tool } from '../model/tool.ts';
import { resolveRetryPolicy } from '../resilience/retry-policy.ts';
import type { RetryOption } from '../resilience/retry-policy.ts';
import type { AgentParts, ModelSettings } from './agent-parts.ts';
import type { AgentCallbacks } from './watch/callbacks.ts';
import { createCallbackHooks } from './watch/callbacks.ts';
import { resolveTimeouts } from './model-call/call-policy.ts';
import { checkAgentOptions } from './check-agent-options.ts';
import { checkModels } from './check-models.ts';
import { processGates } from './model-call/gates.ts';
import type { Gates } from './model-call/gates.ts';
import type { CreateEngine } from './record/durable.ts';
import { resolveHistory } from './run/history-options.ts';
import type { HistoryOptions } from './run/history-options.ts';
import { createHookRunner } from './hooks/hooks.ts';
import { rulesWithin, withExtras } from './children/inherited.ts';
import type { AgentExtras } from './children/inherited.ts';
import { fixedPartOf, fixedTokensOf } from './run/compact-effect.ts';
import type { FailedHook } from './hooks/hook-notes.ts';
import { createLeftBehind } from './tool-call/left-behind.ts';
import { asksNatively } from './model-call/model-turn.ts';
import { readResultTool } from './tool-result/spill-result-tool.ts';
import type { SelectModel } from './run/select-effect.ts';
import { createSetup } from './setup.ts';
import { createTokenMeter } from './run/token-meter.ts';
import { configOf } from './run/run-config.ts';
import type { DescribedAgent } from './run/run-config.ts';
import { createToolRegistry } from './tool-call/tool-registry.ts';

/** What an agent is made of. Only a model is required. */
export interface AgentOptions<Output extends Schema = never> {
  /** For reports, logs and traces. */
  readonly name?: string;
  /** The first is asked, the others are the fallback chain. */
  readonly model: Model | readonly Model[];
  /** Chooses, before each call of a model, the one that is asked first. By default the first of `model`. */
  readonly selectModel?: SelectModel;
  readonly instructions?: string;
  readonly tools?: readonly Tool[];
  /**
   * `auto` (the default): the model decides. `none`: it calls no tool in the whole run. `required` and `{ name }`: its first answer must
   * call a tool, or that one; from then on it decides.
   */
  readonly toolChoice?: ToolChoice;
  /** Makes the answer structured: validated, and asked for again where its form is wrong. */
  readonly output?: Output;
  /** How failures are gone about. */
  readonly policy?: AgentPolicy;
  readonly limits?: Partial<RunLimits>;
  readonly hooks?: readonly Hook[];
  readonly callbacks?: AgentCallbacks;
  /** Fields for every request, such as `temperature` and `maxOutputTokens`. */
  readonly settings?: ModelSettings;
  /** What runs of the same provider and key share; the process' own by default. */
  readonly gates?: Gates;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Where runs outlive the process, such as `sqlite('runs.db')`. In memory by default. */
  readonly store?: Store;
  /** Who executes the runs instead of this process: `restate({ … })`, `dbos({ … })` or `temporal({ … })`. Not together with a store. */
  readonly engine?: CreateEngine;
  /** How a conversation is kept within the model's window. Without it, it is made shorter only after a provider refused it. */
  readonly context?: ContextOptions;
  /** What of a session a run is shown; the last 50 exchanges by default. */
  readonly history?: HistoryOptions;
  /**
   * What the agent needs before its first run takes its first step, such as an open connection: called once in a process, for all
   * runs that begin meanwhile. Where it throws or takes too long the run fails with `INITIALIZATION_ERROR`, nothing is sent to a
   * model, and the next run or resume has it tried again. Its signal says that no caller waits for it any more.
   */
  readonly setup?: (context: { readonly signal: AbortSignal }) => void | Promise<void>;
  /** How long `setup` may take, 30 s by default. It does not count against the limits of a run. */
  readonly setupTimeoutMs?: number;
  /**
   * Whether a model is asked, once and for at most 20 s and 500 tokens, to say in plain words why a run failed: `never` (the default),
   * `auto` (where a run failed by something else than its models, or another model can be asked), or `always` (also where a run was
   * stopped). What it says is checked against what happened and follows the report, which is complete without it.
   */
  readonly explain?: 'auto' | 'always' | 'never';
  /** How long a stored run stays this process's own without a sign of life, 30 s by default. */
  readonly leaseMs?: number;
  /** A stored run that is resumed with other tools, instructions or models than it was begun with: continue and tell, or refuse. */
  readonly onChange?: 'warn' | 'strict';
}

/** How an agent goes about failures. Everything has a default. */
export interface AgentPolicy {
  /** A preset (`none`, `quick`, `standard`, `patient`) or what differs from `standard`. */
  readonly retry?: RetryOption;
  /** The waits of one attempt at a model. */
  readonly timeouts?: Partial<Timeouts>;
  /** Ask the next model also where one refused or filtered its answer. Off by default. */
  readonly fallBackOnFilter?: boolean;
  /** Whether a last turn without tools may give an answer when a limit is reached. On by default. */
  readonly salvage?: boolean;
  /** A call of which it is unknown whether it happened, and whose tool cannot tell: ask a person, or tell the model. */
  readonly inDoubt?: 'ask' | 'tell';
  /** From how many repeats on the model is informed, loses the tool, and is stopped. */
  readonly loop?: Partial<LoopRules>;
  /** An error that your code leaves to the process, such as a rejected promise that nothing awaits: `report` it (the default) or end. */
  readonly strayErrors?: StrayErrors;
  /** Rules by tool, effect and argument; the strictest that fits counts. */
  readonly permissions?: readonly PermissionRule[];
}

/** What the agent's parts ask of the process that holds its runs. */
export interface AgentSeams {
  readonly onHookFailed: (failed: FailedHook) => void;
  /** Whether a run may read a result that was too long to be shown. */
  readonly canRead: (hash: string, runId: string) => boolean;
}

/** Checks everything that can be checked without asking anybody, and fills in the rest. Throws a `ConfigError`. */
export function resolveAgent(
  given: AgentOptions<Schema>,
  { onHookFailed, canRead }: AgentSeams,
  extras: AgentExtras = {},
): AgentParts {
  checkAgentOptions(given);
  const options = withExtras(given, extras);
  const policy = options.policy ?? {};
  const { strayErrors = 'report' } = policy;
  const { name = 'agent', instructions = '', settings = {}, callbacks } = options;
  const models = checkModels(options.model);
  const tools = withReading(options, canRead);
  const registry = createToolRegistry(tools);
  const limits = resolveLimits(options.limits);
  const retry = resolveRetryPolicy(policy.retry);
  const output =
    options.output === undefined ? undefined : readSchema(options.output, 'the output of the agent');
  const clock = options.clock ?? systemClock;
  const parts: AgentParts = {
    name,
    models,
    instructions,
    settings,
    selectModel: options.selectModel,
    registry,
    leftBehind: createLeftBehind(),
    rules: rulesWithin(checkPermissionRules(policy.permissions ?? []), extras.inherited),
    output,
    retry,
    fallBackOnFilter: policy.fallBackOnFilter ?? false,
    strayErrors,
    timeouts: resolveTimeouts(timeoutsFrom(options, limits)),
    config: configOf({ options, name, models, limits, retry, policy, output, tools, extras }),
    hooks: createHookRunner(hooksOf(options), { clock, onFailed: onHookFailed, strayErrors }),
    approve: callbacks?.onApproval,
    listen: callbacks?.onEvent,
    ...keepingOf(options),
    context: contextOf(options.context, { instructions, registry, output, clock, strayErrors }),
    setup: extras.setup ?? setupOf(options),
    gates: options.gates ?? processGates,
    clock,
    random: options.random ?? systemRandom,
    newId: systemId,
    ...largerPart(extras, { tools, models }),
  };
  if (extras.conductor === undefined) checkFeatures(parts);
  return parts;
}

/** What a limit says, unless the policy says something else. */
function timeoutsFrom({ policy, limits: given }: AgentOptions<Schema>, limits: RunLimits): Partial<Timeouts> {
  const ofLimits = { totalMs: limits.modelTimeoutMs, firstTokenMs: given?.firstTokenMs };
  return { ...defined(ofLimits), ...defined(policy?.timeouts ?? {}) };
}

/** What it has as a part of something larger, or as something that has parts. */
function largerPart(
  { inherited, conductor, nodes, sideModels }: AgentExtras,
  { tools, models }: Pick<DescribedAgent, 'tools' | 'models'>,
): Pick<AgentParts, 'confinement' | 'conductor' | 'nodes' | 'sideModels'> {
  const confinement = strictestLevel([inherited?.confinement, confinementOf(tools)]);
  return { confinement, conductor, nodes, sideModels: sideModels ?? models };
}

/** Long results are kept by the store, so there is a way to read on in them. */
function withReading(
  { tools = [], store }: AgentOptions<Schema>,
  canRead: AgentSeams['canRead'],
): readonly Tool[] {
  return store === undefined || tools.length === 0
    ? tools
    : [...tools, readResultTool(store.blobs, { canRead })];
}

function hooksOf({ hooks = [], callbacks }: AgentOptions<Schema>): readonly Hook[] {
  return [...checkHooks(hooks), ...(callbacks === undefined ? [] : createCallbackHooks(callbacks))];
}

const defaultLeaseMs = 30_000;

/** Where and how runs outlive the process. */
function keepingOf({
  store,
  history,
  leaseMs = defaultLeaseMs,
  onChange = 'warn',
}: AgentOptions<Schema>): Pick<AgentParts, 'store' | 'history' | 'leaseMs' | 'onChange'> {
  return { store, history: resolveHistory(history), leaseMs, onChange };
}

const defaultSetupTimeoutMs = 30_000;

function setupOf({
  name: agent = 'agent',
  setup,
  setupTimeoutMs: timeoutMs = defaultSetupTimeoutMs,
}: AgentOptions<Schema>): AgentParts['setup'] {
  return setup === undefined ? undefined : createSetup(setup, { agent, timeoutMs });
}

function contextOf(
  options: ContextOptions | undefined,
  parts: Pick<AgentParts, 'instructions' | 'registry' | 'output' | 'clock' | 'strayErrors'>,
): AgentParts['context'] {
  const rules = resolveContext(options);
  const { budget, tokenCounter: counter } = rules;
  const fixedTokens = lazy(() => fixedTokensOf(parts));
  if (counter === undefined) return { rules, budget, fixedTokens };
  const { clock, strayErrors } = parts;
  const meter = createTokenMeter({ counter, fixed: fixedPartOf(parts), clock, strayErrors });
  return { rules, budget, fixedTokens, isCounted: true, meter };
}

/** A model that lacks what every request will need is reported now, not at three in the morning. */
function checkFeatures({ models, registry, settings, output, config }: AgentParts): void {
  const messages = [{ role: 'user', content: 'Hello' }] as const;
  for (const model of models) {
    const native = output !== undefined && asksNatively(model, registry.names.length > 0);
    const failure = checkRequest(model, {
      ...settings,
      messages,
      ...(registry.names.length === 0 ? {} : { tools: registry.definitions }),
      ...defined({ toolChoice: config.toolChoice }),
      ...(native ? { output: { name: 'answer', schema: output.json } } : {}),
    });
    if (failure !== undefined) throw RerailError.from(failure);
  }
}
