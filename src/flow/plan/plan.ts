import { messagesOf } from '../../agent/turn/history.ts';
import { defaultLimits } from '../../agent/limits.ts';
import { readReply } from '../../agent/approval/person-answer.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { CallAnswer } from '../../agent/state.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { configError } from '../../errors/config-error.ts';
import type { Model } from '../../model/model.ts';
import type { Tool } from '../../model/tool.ts';
import { resolveRetryPolicy } from '../../resilience/retry-policy.ts';
import type { AgentParts, ModelSettings } from '../../runtime/agent-parts.ts';
import { viewOf } from '../../runtime/children/conduct-effect.ts';
import { createAgent } from '../../runtime/create-agent.ts';
import type { Agent } from '../../runtime/create-agent.ts';
import { callHook } from '../../runtime/hooks/hook-call.ts';
import { ownerNamed, warnProcess } from '../../model/stray-errors.ts';
import type { AgentExtras } from '../../runtime/children/inherited.ts';
import type { Node, NodeCall, NodeEnd } from '../../runtime/children/node.ts';
import { checkOptions } from '../../model/check/check-options.ts';
import { createChildren, modelsOf } from '../child-agents.ts';
import type { AgentMap, Children } from '../child-agents.ts';
import { keepOutcome } from '../child-record.ts';
import { conductedAgent, conductedOptionNames } from '../conducted-agent.ts';
import type { ConductedOptions } from '../conducted-agent.ts';
import { nodeFacts, nodeTool } from '../node-tool.ts';
import { cancelChild, childIdOf, performChild } from '../perform-child.ts';
import { capabilityTool } from './capability-tool.ts';
import { resolvePlanLimits } from './check-definition.ts';
import { classifyEach, classifyTogether } from './classify-task.ts';
import { createPlanConductor } from './conduct-plan.ts';
import { extractTask } from './extract-task.ts';
import { planAbout } from './fold-plan.ts';
import { makePlan } from './make-plan.ts';
import { nodeNames } from './plan-state.ts';
import type { Capability, PlanAbout, PlanDefinition, PlanLimits, PlanNode } from './plan-types.ts';
import { respond } from './respond.ts';

/** What a plan is made of. */
export interface PlanOptions extends ConductedOptions {
  /** Who chooses, plans and answers; the first is asked, the others are the fallback chain. */
  readonly model: Model | readonly Model[];
  /** Fields for every request to it, such as `maxOutputTokens`. */
  readonly settings?: ModelSettings;
  readonly capabilities: readonly Capability[];
  /** `plan-first` (the default): the whole plan before the first step. `step-by-step`: the next step after each. */
  readonly mode?: PlanDefinition['mode'];
  /** `together` (the default): one question about all capabilities. `each`: one about each, side by side. */
  readonly classify?: PlanDefinition['classify'];
  /** A person says yes to every plan before its first step. Off by default. */
  readonly approvePlan?: boolean;
  /** A model says what the conversation asks for. On by default; otherwise the last message of the user is the task. */
  readonly extractTask?: boolean;
  /** How often it is planned, chosen and asked again. */
  readonly bounds?: Partial<PlanLimits>;
}

const optionNames: readonly string[] = [
  'model',
  'settings',
  'capabilities',
  'mode',
  'classify',
  'approvePlan',
  'extractTask',
  'bounds',
  ...conductedOptionNames,
];

/**
 * Makes an agent that chooses capabilities for a task, plans, takes the steps and answers. What fails is tried again, planned again,
 * chosen again or explained, by its severity. Throws a `FlowError` that names the capability and the way to fix it.
 *
 * @example
 * const operator = plan({ model, capabilities: [readSensor, averageOf, notify] });
 * const outcome = await operator.run('Tell the night shift how warm the hall was today.');
 */
export function plan(options: PlanOptions): Agent {
  checkOptions({ of: 'plan()', rules: optionNames }, options);
  const definition = definitionOf(options);
  const conductor = createPlanConductor(definition);
  const agents = questioners(options, definition);
  const children = createChildren(agents);
  const { capabilities } = definition;
  const extras: AgentExtras = {
    conductor,
    nodes: nodesOf(definition, children),
    tools: [...nodeTools(definition), ...capabilities.map(capabilityTool)],
    facts: factsOf(options),
    sideModels: modelsOf(agents),
  };
  return conductedAgent({ ...options, name: definition.name }, extras) as Agent; // It answers with a text.
}

function definitionOf(options: PlanOptions): PlanDefinition {
  const { capabilities, mode = 'plan-first', classify = 'together', name = 'plan' } = options;
  const { approvePlan = false, extractTask: extracts = true } = options;
  const isList =
    Array.isArray(capabilities) && capabilities.every((one) => isRecord(one) && isRecord(one['options']));
  if (!isList) throw configError('"capabilities" of plan() must be a list, each made with capability({ … })');
  const choices = [
    ['mode', mode, ['plan-first', 'step-by-step']],
    ['classify', classify, ['together', 'each']],
    ['approvePlan', approvePlan, [true, false]],
    ['extractTask', extracts, [true, false]],
  ] as const;
  for (const [field, value, legal] of choices) {
    if (!legal.some((one) => one === value))
      throw configError(
        `"${field}" of plan() must be ${legal.map((one) => JSON.stringify(one)).join(' or ')}`,
      );
  }
  return {
    name,
    capabilities,
    mode,
    classify,
    approvePlan,
    extractTask: extracts,
    limits: resolvePlanLimits(options.bounds),
  };
}

/** What each node asks, and of whom. */
function plannersOf({ mode, classify }: PlanDefinition): Readonly<Record<string, PlanNode<unknown>>> {
  return {
    [nodeNames.extract]: extractTask,
    [nodeNames.classify]: classify === 'each' ? classifyEach : classifyTogether,
    [nodeNames.plan]: makePlan(mode),
    [nodeNames.respond]: respond,
  };
}

/** A question is a run of an agent without tools: its form is held, its retries and its budget are the machine's. */
function questioners({ model, settings }: PlanOptions, definition: PlanDefinition): AgentMap {
  const blank = planAbout(definition, { task: [], calls: [] }, { name: nodeNames.respond, input: {} });
  const agents = Object.entries(plannersOf(definition)).map(([name, node]) => {
    const { form } = node.ask({ ...blank, subject: '' });
    const common = {
      name,
      model,
      limits: { maxTurns: maxQuestionTurns },
      ...(settings === undefined ? {} : { settings }),
    };
    return [
      name,
      form === undefined ? createAgent(common) : createAgent({ ...common, output: form }),
    ] as const;
  });
  return Object.fromEntries(agents);
}

/** One question, and what it takes to get an answer of the right form. */
const maxQuestionTurns = 8;

function nodeTools({ approvePlan }: PlanDefinition): readonly Tool[] {
  const { approve, ...others } = nodeNames;
  const tools = Object.values(others).map((name) => nodeTool({ name, effect: 'read' }));
  const description = 'Begins with a plan, once a person has seen it.';
  return approvePlan
    ? [...tools, nodeTool({ name: approve, description, permission: 'ask', effect: 'read' })]
    : tools;
}

function factsOf({ capabilities, limits }: PlanOptions): NonNullable<AgentExtras['facts']> {
  const nodes = Object.values(nodeNames).map((name) => [name, nodeFacts(undefined)] as const);
  const standard = resolveRetryPolicy('standard');
  const { maxToolAttempts = defaultLimits.maxToolAttempts } = limits ?? {};
  // A policy of its own in any case: what a capability calls retriable is tried again, also under a code that others leave alone.
  const usual = { ...standard, maxAttempts: Math.min(standard.maxAttempts, maxToolAttempts) };
  const own = capabilities.map(({ name, options: { retryPolicy } }) => {
    const retry = retryPolicy === undefined ? usual : resolveRetryPolicy(retryPolicy);
    return [name, { retry }] as const;
  });
  return { ...Object.fromEntries(nodes), ...Object.fromEntries(own) };
}

function nodesOf(definition: PlanDefinition, children: Children): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>();
  for (const [name, node] of Object.entries(plannersOf(definition)))
    nodes.set(name, questionNode(definition, children, node));
  nodes.set(nodeNames.clarify, { perform: (call) => askPerson(call) });
  // Here it is approved: the permission of the tool asks for that.
  nodes.set(nodeNames.approve, { perform: async () => ({ type: 'ok', content: '{}' }) });
  return nodes;
}

function questionNode(definition: PlanDefinition, children: Children, node: PlanNode<unknown>): Node {
  const { name } = node;
  const idOf = (runId: string, callId: string): string => childIdOf(runId, `${name}-${callId}`);
  return {
    agent: children.partsOf(name),
    perform: (call) =>
      performChild(call, {
        runs: children.of(call.parts, name),
        runId: idOf(call.state.runId, call.callId),
        input: () => {
          const { instructions, prompt } = node.ask(aboutOf(definition, call, name));
          return [
            { role: 'system', content: instructions },
            { role: 'user', content: prompt },
          ];
        },
        isAgain: call.attempt > 1,
        mayBeginAfresh: false,
        contentOf: keepOutcome,
      }),
    cancel: ({ parts, state, callId }) => cancelChild(children.of(parts, name), idOf(state.runId, callId)),
  };
}

function aboutOf(definition: PlanDefinition, { state, input }: NodeCall, name: string): PlanAbout {
  return planAbout(definition, viewOf(state, messagesOf(state.history)), { name, input });
}

/** The plan needs to know something: a callback answers, or the run waits for a person. */
async function askPerson({ parts, state, callId, input, answer, signal }: NodeCall): Promise<NodeEnd> {
  const question = isRecord(input) && typeof input['question'] === 'string' ? input['question'] : '';
  const request: PersonRequest = {
    type: 'question',
    id: `${state.runId}:${callId}:question`,
    question,
    why: 'The plan cannot continue without knowing this',
  };
  const said = answer === undefined ? await askCallback(parts, request, signal) : saidIn(answer);
  const read = readReply(said);
  if (read === undefined) return { type: 'waiting', wait: { reason: 'clarification', request } };
  return { type: 'ok', content: read };
}

function saidIn({ said }: CallAnswer): Json | undefined {
  return said.given ? said.value : undefined;
}

async function askCallback(
  { approve, clock, config, strayErrors }: AgentParts,
  request: PersonRequest,
  signal: AbortSignal,
): Promise<unknown> {
  if (approve === undefined) return undefined;
  const timeoutMs = config.limits.approvalTimeoutMs;
  const owner = ownerNamed('The callback "onApproval"', { strayErrors, report: warnProcess });
  const end = await callHook((context) => approve(request, context), { clock, timeoutMs, signal, owner });
  return end.type === 'answered' ? end.answer : undefined;
}
