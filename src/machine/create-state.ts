import type { MachineEvent } from '../agent/event.ts';
import { resolveLimits } from '../agent/limits.ts';
import type { RunLimits } from '../agent/limits.ts';
import { defaultLoopRules } from '../agent/turn/loop-guard.ts';
import type { Moved } from '../agent/moved.ts';
import { transition } from '../agent/transition.ts';
import { aFlag, anObject, anyValue, aText, checkOptions, oneOf } from '../model/check/check-options.ts';
import type { OptionRule } from '../model/check/check-options.ts';
import type { Message } from '../model/message.ts';
import { showValue } from '../model/check/show-value.ts';
import type { Tool } from '../model/tool.ts';
import { configError } from '../errors/config-error.ts';
import { resolveRetryPolicy } from '../resilience/retry-policy.ts';
import type { RetryOption } from '../resilience/retry-policy.ts';
import { factsOf, finite } from '../runtime/run/run-config.ts';

/** What the machine must know of an agent. */
export interface MachineDefinition {
  readonly name: string;
  /** The chain of models, by their names: the first is the primary. A `Model` will do. */
  readonly models: readonly {
    readonly provider: string;
    readonly name: string;
    readonly quotaKey?: string;
  }[];
  /** Made by `tool()`. The state keeps what they declare, not what they do. */
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<RunLimits>;
  readonly retry?: RetryOption;
  /** Whether a last turn without tools may give an answer when a limit is reached. Default: true. */
  readonly salvage?: boolean;
  /** A call of which it is not known whether it happened: ask a person (the default), or tell the model. */
  readonly inDoubt?: 'ask' | 'tell';
  /** Default: `run`. */
  readonly runId?: string;
}

const optionRules: Readonly<Record<keyof MachineDefinition, OptionRule>> = {
  name: aText,
  models: {
    isLegal: (value) => Array.isArray(value) && value.length > 0,
    expected: 'a list with at least one model',
  },
  tools: { isLegal: Array.isArray, expected: 'a list of what tool() returns' },
  limits: anObject('{ maxTurns: 20 }'),
  retry: anyValue,
  salvage: aFlag,
  inDoubt: oneOf('ask', 'tell'),
  runId: aText,
};

/**
 * The state of a run that begins, and what is to be done first. Throws a `ConfigError` for a definition that makes no sense.
 *
 * @example let { state, actions } = createState({ name: 'weather', models: [model], tools }, 'Is it cold in Oslo?');
 */
export function createState(definition: MachineDefinition, input: string | readonly Message[]): Moved {
  checkOptions({ of: 'createState()', rules: optionRules }, definition);
  for (const field of ['name', 'models'] as const) {
    if (definition[field] === undefined) throw configError(`createState() needs "${field}"`);
  }
  if (!Array.isArray(input) && (typeof input !== 'string' || input.trim() === ''))
    throw configError(`createState() takes a text or a list of messages, got ${showValue(input)}`);
  const { name, models, tools = [], salvage = true, inDoubt = 'ask', runId = 'run' } = definition;
  const event: MachineEvent = {
    type: 'run-started',
    runId,
    config: {
      agent: name,
      models: models.map(({ provider, name: model, quotaKey = provider }) => ({
        provider,
        name: model,
        quotaKey,
      })),
      limits: finite(resolveLimits(definition.limits)),
      retry: finite(resolveRetryPolicy(definition.retry)),
      loop: defaultLoopRules,
      salvage,
      inDoubt,
      hasOutput: false,
      tools: Object.fromEntries(tools.map((tool) => [tool.name, factsOf(tool)])),
    },
    messages: typeof input === 'string' ? [{ role: 'user', content: input }] : input,
    repairs: [],
  };
  return transition(undefined, event);
}
