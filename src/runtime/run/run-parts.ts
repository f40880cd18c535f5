import type { RunConfig } from '../../agent/config.ts';
import { defined } from '../../base/defined.ts';
import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { AgentExtras } from '../children/inherited.ts';
import type { RunOptions } from './run-input.ts';

/** The agent, and how to resolve it again with more than it was made with. */
export interface ExtendableAgent {
  readonly parts: AgentParts;
  readonly resolveWith: (extras: AgentExtras) => AgentParts;
}

/**
 * The parts of a run that has tools or a choice of its own, checked as those of an agent; undefined where it has neither. Everything
 * else is shared with the agent. Throws a `ConfigError` or a `RegistryError` before anything is done.
 */
export function partsOfRun(
  { parts, resolveWith }: ExtendableAgent,
  { tools = [], toolChoice }: Pick<RunOptions, 'tools' | 'toolChoice'>,
): AgentParts | undefined {
  if (tools.length === 0 && toolChoice === undefined) return undefined;
  if (parts.conductor !== undefined)
    throw configError(
      `"${parts.name}" is a flow or a plan: it has no model for the "tools" or "toolChoice" of a run. Give them to the agent of a node`,
    );
  const facts = Object.fromEntries(tools.map(({ name }) => [name, { isOfRun: true as const }]));
  const { registry, config, context, confinement } = resolveWith({
    tools,
    facts,
    ...defined({ toolChoice }),
  });
  return { ...parts, registry, config, context, confinement };
}

/** The names of the tools that a run was begun with besides the agent's; absent where there are none. */
export function runToolsIn(config: RunConfig | undefined): readonly string[] | undefined {
  const facts = Object.entries(config?.tools ?? {});
  const names = facts.flatMap(([name, { isOfRun }]) => (isOfRun === true ? [name] : []));
  return names.length === 0 ? undefined : names;
}

/** Throws where a tool is missing that the run was begun with: without it, the run would continue as another one. */
export function demandTools(
  runId: string,
  names: readonly string[] | undefined,
  { config }: Pick<AgentParts, 'config'>,
): void {
  const missing = (names ?? []).filter((name) => !Object.hasOwn(config.tools, name));
  if (missing.length === 0) return;
  const listed = missing.map((name) => `"${name}"`).join(', ');
  throw RerailError.from(
    createFailure('INVALID_STATE', {
      origin: 'agent',
      message: `The run "${runId}" was started with tools of its own, and these are missing: ${listed}`,
      hint: `Pass them again: agent.resume(${JSON.stringify(runId)}, { tools: [${missing.join(', ')}] }).`,
      context: { runId, missingTools: missing },
    }),
  );
}
