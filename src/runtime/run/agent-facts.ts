import { hookPoints } from '../../agent/hooks/hook-rules.ts';
import type { HookPoint } from '../../agent/hooks/hook.ts';
import type { PermissionRules } from '../../agent/approval/permission.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { defined } from '../../base/defined.ts';
import { fingerprint } from '../../base/hash.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { Node } from '../children/node.ts';

/** What a run was begun with, as far as it can be compared: kept with the run, and compared when it is resumed. */
export interface AgentFacts {
  readonly instructions: string;
  readonly models: readonly string[];
  /** Of name, description, schema and effect, by name. */
  readonly tools: Readonly<Record<string, string>>;
  readonly output: string;
  /** Of a flow or a hand-off: what it goes by, in words. */
  readonly shape?: string;
  /** The agents below it, by the names that they have there. */
  readonly nodes?: Readonly<Record<string, Omit<AgentFacts, 'driver'>>>;
  /** What the driver asks the agent, so that the run can be replayed without it. Not compared. */
  readonly driver?: DriverFacts;
}

/** The little that the driver asks of an agent besides its effects. What is not there was not asked. */
export interface DriverFacts {
  /** Points at which a hook is asked or informed. */
  readonly hooks?: readonly HookPoint[];
  /** A function answers in the place of a person. */
  readonly hasApprove?: true;
  /** What an answer is held to that a hook gives or changes. */
  readonly outputSchema?: Json;
  /** What a call must pass that a hook has changed. */
  readonly rules?: PermissionRules;
  /** A function chooses the model that a call begins with. */
  readonly selectsModel?: true;
  /** What is held to be too long to be sent. */
  readonly context?: Pick<AgentParts['context'], 'budget' | 'isCounted'> & { readonly fixedTokens: number };
}

/** The facts of an agent as it is now. */
export function factsOfAgent(parts: AgentParts): AgentFacts {
  const driver = driverFactsOf(parts);
  return { ...comparedFactsOf(parts), ...(Object.keys(driver).length === 0 ? {} : { driver }) };
}

/** What the driver is carried with where no function of the agent can be: the facts, and how long each tool may take. */
export function hostedFactsOf(parts: AgentParts): Json {
  const { registry } = parts;
  const timeouts = registry.definitions.map(({ name }): readonly [string, number] => [
    name,
    registry.get(name)?.timeoutMs ?? 0,
  ]);
  return { ...factsOfAgent(parts), toolTimeoutsMs: Object.fromEntries(timeouts) } as unknown as Json; // Facts are JSON.
}

function comparedFactsOf(parts: AgentParts): Omit<AgentFacts, 'driver'> {
  const { instructions, models, registry, output, conductor, nodes = new Map<string, Node>() } = parts;
  const tools: Record<string, string> = {};
  for (const definition of registry.definitions) {
    const effect = registry.get(definition.name)?.effect ?? 'once';
    tools[definition.name] = fingerprint(canonicalJson({ ...definition, effect } as unknown as Json)); // Definitions are JSON.
  }
  return {
    instructions: fingerprint(instructions),
    // Further keys of a model are no further models.
    models: models.flatMap(({ provider, name, isNextKey }) =>
      isNextKey === true ? [] : [`${provider}:${name}`],
    ),
    tools,
    output: output === undefined ? '' : fingerprint(canonicalJson(output.json as Json)), // A JSON Schema is JSON.
    ...(conductor?.shape === undefined ? {} : { shape: conductor.shape }),
    ...(nodes.size === 0 ? {} : { nodes: nodeFactsOf(nodes) }),
  };
}

/** Agents stand below agents no deeper than the flows are written. */
function nodeFactsOf(nodes: ReadonlyMap<string, Node>): NonNullable<AgentFacts['nodes']> {
  const agents = [...nodes].flatMap(([name, { agent }]) =>
    agent === undefined ? [] : [[name, agent] as const],
  );
  return Object.fromEntries(agents.map(([name, agent]) => [name, comparedFactsOf(agent)]));
}

function driverFactsOf({ hooks, approve, output, rules, context, selectModel }: AgentParts): DriverFacts {
  const points = hookPoints.filter((point) => hooks.has(point));
  const canAnswer = points.includes('before-model') || points.includes('after-model');
  return {
    ...(points.length === 0 ? {} : { hooks: points }),
    ...(approve === undefined ? {} : { hasApprove: true }),
    ...(output === undefined || !canAnswer ? {} : { outputSchema: output.json as Json }), // A JSON Schema is JSON.
    ...(points.includes('before-tool') ? { rules } : {}),
    ...(selectModel === undefined ? {} : { selectsModel: true }),
    ...(context.budget === undefined
      ? {}
      : {
          context: {
            budget: context.budget,
            fixedTokens: context.fixedTokens(),
            ...defined({ isCounted: context.isCounted }),
          },
        }),
  };
}

/** What has changed since, in words for a person; empty where nothing has. Facts that cannot be read say nothing. */
export function factsThatDiffer(before: unknown, now: AgentFacts): readonly string[] {
  return isRecord(before) ? differencesOf(before, now) : [];
}

function differencesOf(before: Members, now: Omit<AgentFacts, 'driver'>): readonly string[] {
  const differences: string[] = [];
  if (before['instructions'] !== now.instructions) differences.push('the instructions were changed');
  const models = Array.isArray(before['models']) ? before['models'].map(String).join(', ') : '';
  if (models !== now.models.join(', '))
    differences.push(`the models were ${models}, now they are ${now.models.join(', ')}`);
  if (before['output'] !== now.output) differences.push('the schema of the answer was changed');
  const { shape } = before;
  if (typeof shape === 'string' && shape !== now.shape)
    differences.push(`its definition was: ${shape}; now it is: ${now.shape ?? 'nothing'}`);
  return [...differences, ...toolDifferences(before, now)];
}

type Members = Readonly<Record<string, unknown>>;

function toolDifferences(before: Members, now: Omit<AgentFacts, 'driver'>): readonly string[] {
  const differences: string[] = [];
  const tools = membersIn(before, 'tools');
  const nodes = membersIn(before, 'nodes');
  const called = (name: string): string =>
    `${Object.hasOwn(nodes, name) || ownIn(now.nodes, name) !== undefined ? 'the node' : 'the tool'} "${name}"`;
  for (const [name, hash] of Object.entries(tools)) {
    const current = ownIn(now.tools, name);
    if (current === undefined) differences.push(`${called(name)} is gone`);
    else if (current !== hash) differences.push(`${called(name)} was changed`);
  }
  for (const name of Object.keys(now.tools)) {
    if (!Object.hasOwn(tools, name)) differences.push(`${called(name)} is new`);
  }
  for (const [name, agent] of Object.entries(now.nodes ?? {})) {
    const own = ownIn(nodes, name);
    if (!isRecord(own)) continue;
    differences.push(
      ...differencesOf(own, agent).map((difference) => `of the node "${name}": ${difference}`),
    );
  }
  return differences;
}

function membersIn(holder: Members, name: string): Members {
  const members = ownIn(holder, name);
  return isRecord(members) ? members : {};
}

function ownIn<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
}
