import type { ToolFacts } from '../../agent/config.ts';
import { intersectRules } from '../../agent/approval/permission.ts';
import type { PermissionRule, PermissionRules } from '../../agent/approval/permission.ts';
import { holdTools } from '../../model/confinement.ts';
import type { Model } from '../../model/model.ts';
import type { ToolChoice } from '../../model/request.ts';
import type { Schema, Tool } from '../../model/tool.ts';
import type { AgentOptions } from '../agent-options.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { AgentCallbacks } from '../watch/callbacks.ts';
import type { Conductor } from './conductor.ts';
import type { Node } from './node.ts';
import type { Setup } from '../setup.ts';

/** What an agent has from the one that it works for: at most the same rights, and the same place to keep runs in. */
export interface Inherited extends Pick<
  AgentParts,
  'store' | 'approve' | 'clock' | 'random' | 'gates' | 'leaseMs' | 'confinement'
> {
  /** Its name on record: its runs are resumed only through the one above. */
  readonly name: string;
  readonly rules: PermissionRules;
}

/** What only flows, plans and teams give an agent. */
export interface AgentExtras {
  /** Another name than the agent's own. */
  readonly name?: string;
  /** That of the agent itself: it is set up once, whichever run it works for. */
  readonly setup?: Setup;
  readonly inherited?: Inherited;
  readonly conductor?: Conductor;
  readonly nodes?: ReadonlyMap<string, Node>;
  /** Models that explain a failure and help a tool, where the agent itself has no model. */
  readonly sideModels?: readonly Model[];
  /** Tools besides the agent's own. */
  readonly tools?: readonly Tool[];
  /** By tool: what its definition cannot say. */
  readonly facts?: Readonly<Record<string, Pick<ToolFacts, 'retry' | 'isLast' | 'isNode' | 'isOfRun'>>>;
  /** Instead of the agent's own. */
  readonly toolChoice?: ToolChoice;
}

/** What an agent passes on to one that works for it. */
export function inheritFrom(parts: AgentParts, node: string): Inherited {
  const { store, approve, clock, random, gates, leaseMs, confinement } = parts;
  return {
    name: `${parts.name}/${node}`,
    rules: rulesBelow(parts),
    store,
    approve,
    clock,
    random,
    gates,
    leaseMs,
    confinement,
  };
}

/** A tool that the one above must ask about, or may not use, is no freer in the hands of one below. */
function rulesBelow({ rules, registry, config }: AgentParts): PermissionRules {
  const own: PermissionRule[] = [];
  for (const name of registry.names) {
    const permission = config.tools[name]?.permission ?? 'allow';
    if (permission === 'allow') continue;
    own.push({
      tool: name,
      permission,
      why: `"${name}" is ${permission === 'ask' ? 'set to ask' : 'switched off'} in the parent agent`,
    });
  }
  return own.length === 0 ? rules : intersectRules(rules, own);
}

/** The agent's own options, as far as what it inherits leaves them to it. */
export function withExtras(
  options: AgentOptions<Schema>,
  { inherited, name: given, tools = [] }: AgentExtras,
): AgentOptions<Schema> {
  const all = tools.length === 0 ? options : { ...options, tools: [...(options.tools ?? []), ...tools] };
  if (inherited === undefined) return given === undefined ? all : { ...all, name: given };
  const { name, store, clock, random, gates, leaseMs } = inherited;
  return {
    ...all,
    name,
    ...(all.tools === undefined ? {} : { tools: holdTools(all.tools, inherited.confinement) }),
    ...(store === undefined ? {} : { store }),
    clock: options.clock ?? clock,
    random: options.random ?? random,
    gates: options.gates ?? gates,
    leaseMs: options.leaseMs ?? leaseMs,
    ...callbacksWithin(options.callbacks, inherited),
  };
}

/** A person whom the one above must ask cannot be left out by the one below. */
function callbacksWithin(
  own: AgentCallbacks | undefined,
  { approve, rules }: Inherited,
): Pick<AgentOptions, 'callbacks'> {
  if (approve !== undefined) return { callbacks: { ...own, onApproval: approve } };
  const { onApproval, ...others } = own ?? {};
  if (onApproval === undefined || isEmpty(rules)) return own === undefined ? {} : { callbacks: own };
  return { callbacks: others };
}

function isEmpty(rules: PermissionRules): boolean {
  return 'allOf' in rules ? rules.allOf.every((list) => list.length === 0) : rules.length === 0;
}

/** Its own rules, under those of the one above. */
export function rulesWithin(own: PermissionRules, inherited: Inherited | undefined): PermissionRules {
  return inherited === undefined ? own : intersectRules(inherited.rules, own);
}

/** Both together: what the run above adds comes after the agent's own. */
export function mergeExtras(own: AgentExtras, more: AgentExtras): AgentExtras {
  return {
    ...own,
    ...more,
    tools: [...(own.tools ?? []), ...(more.tools ?? [])],
    facts: { ...own.facts, ...more.facts },
  };
}
