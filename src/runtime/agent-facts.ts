import { hookPoints } from '../agent/hook-rules.ts';
import type { HookPoint } from '../agent/hook.ts';
import type { PermissionRules } from '../agent/permission.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { fingerprint } from '../base/hash.ts';
import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import type { AgentParts } from './agent-parts.ts';

/** What a run was begun with, as far as it can be told apart: kept with the run, and compared when it is taken up again. */
export interface AgentFacts {
  readonly instructions: string;
  readonly models: readonly string[];
  /** Of name, description, schema and effect, by name. */
  readonly tools: Readonly<Record<string, string>>;
  readonly output: string;
  /** What the driver asks the agent, so that the run can be replayed without it. Not compared. */
  readonly driver?: DriverFacts;
}

/** The little that the driver asks of an agent besides its effects. What is not there was not asked. */
export interface DriverFacts {
  /** Points at which anybody is asked or told. */
  readonly hooks?: readonly HookPoint[];
  /** A function answers in the place of a person. */
  readonly hasApprove?: true;
  /** What an answer is held to that a hook gives or changes. */
  readonly outputSchema?: Json;
  /** What a call must pass that a hook has changed. */
  readonly rules?: PermissionRules;
  /** What is held to be too long to be sent. */
  readonly context?: Pick<AgentParts['context'], 'budget'> & { readonly fixedTokens: number };
}

/** The facts of an agent as it is now. */
export function factsOfAgent(parts: AgentParts): AgentFacts {
  const { instructions, models, registry, output } = parts;
  const driver = driverFactsOf(parts);
  const tools: Record<string, string> = {};
  for (const definition of registry.definitions) {
    const effect = registry.get(definition.name)?.effect ?? 'once';
    tools[definition.name] = fingerprint(canonicalJson({ ...definition, effect } as unknown as Json)); // Definitions are JSON.
  }
  return {
    instructions: fingerprint(instructions),
    models: models.map(({ provider, name }) => `${provider}:${name}`),
    tools,
    output: output === undefined ? '' : fingerprint(canonicalJson(output.json as Json)), // A JSON Schema is JSON.
    ...(Object.keys(driver).length === 0 ? {} : { driver }),
  };
}

function driverFactsOf({ hooks, approve, output, rules, context }: AgentParts): DriverFacts {
  const points = hookPoints.filter((point) => hooks.has(point));
  const canAnswer = points.includes('before-model') || points.includes('after-model');
  return {
    ...(points.length === 0 ? {} : { hooks: points }),
    ...(approve === undefined ? {} : { hasApprove: true }),
    ...(output === undefined || !canAnswer ? {} : { outputSchema: output.json as Json }), // A JSON Schema is JSON.
    ...(points.includes('before-tool') ? { rules } : {}),
    ...(context.budget === undefined
      ? {}
      : { context: { budget: context.budget, fixedTokens: context.fixedTokens() } }),
  };
}

/** What has changed since, in words for a person; empty where nothing has. Facts that cannot be read say nothing. */
export function factsThatDiffer(before: unknown, now: AgentFacts): readonly string[] {
  if (!isRecord(before)) return [];
  const differences: string[] = [];
  if (before['instructions'] !== now.instructions) differences.push('the instructions were changed');
  const models = Array.isArray(before['models']) ? before['models'].map(String).join(', ') : '';
  if (models !== now.models.join(', '))
    differences.push(`the models were ${models}, now they are ${now.models.join(', ')}`);
  if (before['output'] !== now.output) differences.push('the schema of the answer was changed');
  const tools = isRecord(before['tools']) ? before['tools'] : {};
  for (const [name, hash] of Object.entries(tools)) {
    const current = Object.hasOwn(now.tools, name) ? now.tools[name] : undefined;
    if (current === undefined) differences.push(`the tool "${name}" is gone`);
    else if (current !== hash) differences.push(`the tool "${name}" was changed`);
  }
  for (const name of Object.keys(now.tools)) {
    if (!Object.hasOwn(tools, name)) differences.push(`the tool "${name}" is new`);
  }
  return differences;
}
