import type { RunLimits } from '../agent/limits.ts';
import type { Schema } from '../model/tool.ts';
import type { AgentOptions, AgentPolicy } from '../runtime/agent-options.ts';
import { makeAgent } from '../runtime/create-agent.ts';
import type { Agent } from '../runtime/create-agent.ts';
import type { AgentExtras } from '../runtime/children/inherited.ts';
import { checkOptions } from '../model/check/check-options.ts';
import { placeholderModel } from './placeholder-model.ts';

/** What may be said of a flow, a hand-off or a plan as of any agent. */
export interface ConductedOptions extends Pick<
  AgentOptions,
  | 'name'
  | 'store'
  | 'hooks'
  | 'callbacks'
  | 'clock'
  | 'random'
  | 'gates'
  | 'leaseMs'
  | 'onChange'
  | 'setup'
  | 'setupTimeoutMs'
  | 'explain'
> {
  /** Of everything together: no agent below may use up more than is left. */
  readonly limits?: Partial<RunLimits>;
  /** Rules for every tool of every agent below: handing work on gives no right. */
  readonly policy?: Pick<AgentPolicy, 'permissions' | 'inDoubt'>;
}

/** The names of these options, for the check of the given options. */
export const conductedOptionNames: readonly (keyof ConductedOptions)[] = [
  'name',
  'store',
  'hooks',
  'callbacks',
  'clock',
  'random',
  'gates',
  'leaseMs',
  'onChange',
  'setup',
  'setupTimeoutMs',
  'explain',
  'limits',
  'policy',
];

/** An agent with a function in the place of its model. */
export function conductedAgent(options: ConductedOptions, extras: AgentExtras): Agent<unknown> {
  if (options.policy !== undefined)
    checkOptions({ of: `"policy" of "${options.name ?? 'flow'}"`, rules: policyNames }, options.policy);
  const own = Object.fromEntries(
    conductedOptionNames.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
  const whole: AgentOptions<Schema> = {
    ...own,
    model: placeholderModel,
    limits: { ...conductedLimits, ...options.limits },
    policy: { ...options.policy, salvage: false },
  };
  return makeAgent(whole, extras);
}

/** Retries and all else about models are said where the model is: of the agents below, and of nodes. */
const policyNames: readonly (keyof NonNullable<ConductedOptions['policy']>)[] = ['permissions', 'inDoubt'];

/** A flow is as long as it is written; what is below it has bounds of its own. */
const conductedLimits: Partial<RunLimits> = { maxTurns: Infinity, maxToolCalls: Infinity };
