import type { RunConfig, ToolFacts } from '../../agent/config.ts';
import type { RunLimits } from '../../agent/limits.ts';
import { defaultLoopRules } from '../../agent/turn/loop-guard.ts';
import { defined } from '../../base/defined.ts';
import { levelOf } from '../../model/confinement.ts';
import type { Model } from '../../model/model.ts';
import type { Schema, Tool } from '../../model/tool.ts';
import type { AgentOptions, AgentPolicy } from '../agent-options.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { AgentExtras } from '../children/inherited.ts';

/** An agent whose options were checked. */
export interface DescribedAgent {
  readonly name: string;
  readonly models: readonly Model[];
  readonly limits: RunLimits;
  readonly retry: AgentParts['retry'];
  readonly policy: AgentPolicy;
  readonly output: AgentParts['output'];
  readonly tools: readonly Tool[];
  readonly extras: AgentExtras;
  readonly options: AgentOptions<Schema>;
}

/** What the machine knows of it. */
export function configOf(described: DescribedAgent): RunConfig {
  const { name, models, limits, retry, policy, output, tools, extras, options } = described;
  const { explain = 'never' } = options;
  const { toolChoice = options.toolChoice } = extras;
  const facts: Record<string, ToolFacts> = {};
  for (const tool of tools) facts[tool.name] = { ...factsOf(tool), ...extras.facts?.[tool.name] };
  return {
    agent: name,
    models: models.map(({ provider, name: model, quotaKey, isNextKey }) => ({
      provider,
      name: model,
      quotaKey,
      ...defined({ isNextKey }),
    })),
    limits: finite(limits),
    retry: finite(retry),
    loop: { ...defaultLoopRules, ...policy.loop },
    salvage: policy.salvage ?? true,
    inDoubt: policy.inDoubt ?? 'ask',
    hasOutput: output !== undefined || extras.conductor !== undefined,
    tools: facts,
    ...(extras.conductor === undefined ? {} : { isConducted: true as const }),
    ...(explain === 'never' ? {} : { explain }),
    ...defined({ toolChoice }),
  };
}

export function factsOf(tool: Tool): ToolFacts {
  const { effect, permission, verify, repeats, onError = 'tell' } = tool;
  const level = levelOf(tool);
  const bare = { effect, permission, canVerify: verify !== undefined, onError };
  const facts = level === undefined ? bare : { ...bare, level };
  return repeats === undefined ? facts : { ...facts, repeats };
}

/** JSON has no infinity, and the journal is JSON. */
export function finite<Bounds extends object>(bounds: Bounds): Bounds {
  const made = { ...bounds } as Record<string, unknown>; // Its fields, whatever they are called.
  for (const name of Object.keys(made)) if (made[name] === Infinity) made[name] = Number.MAX_SAFE_INTEGER;
  return made as Bounds;
}
