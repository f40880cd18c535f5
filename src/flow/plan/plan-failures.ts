import type { CallRecord } from '../../agent/conducted.ts';
import type { Severity } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { PlanDefinition, PlanLimits, PlanStep } from './plan-types.ts';

/** The failure of a step, with the step's name on it. */
export function stepFailure(step: PlanStep, failure: Failure, severity: Severity): Failure {
  return named(failure, `Step "${step.key}" (${step.capability}) failed`, {
    step: step.key,
    capability: step.capability,
    severity,
  });
}

/** The failure of a call that is no step, with its name on it. */
export function nodeFailure(node: string, failure: Failure): Failure {
  return named(failure, `"${node}" of the plan failed`, { node });
}

function named(failure: Failure, what: string, context: Failure['context']): Failure {
  const { code, message, ...rest } = failure;
  return createFailure(code, {
    ...rest,
    message: `${what}: ${message}`,
    context: { ...failure.context, ...context },
  });
}

/** What a record that is not ok says went wrong. */
export function recordFailure(name: string, { status, failure, content }: CallRecord): Failure {
  if (failure !== undefined) return failure;
  switch (status) {
    case 'denied':
      return createFailure('PERMISSION_DENIED', {
        origin: 'tool',
        sideEffect: 'none',
        message: `The call of "${name}" was not approved${content === undefined ? '' : `: ${content}`}`,
        context: { tool: name },
      });
    case 'unknown':
      return createFailure('UNKNOWN_OUTCOME', {
        origin: 'tool',
        sideEffect: 'possible',
        message: `It is unknown whether "${name}" has happened`,
        context: { tool: name },
      });
    case 'interrupted':
      return createFailure('CANCELLED', {
        origin: 'flow',
        message: `The call of "${name}" was interrupted`,
        context: { tool: name },
      });
    case 'retry':
      return createFailure('TOOL_EXECUTION_ERROR', {
        origin: 'tool',
        message: content ?? `"${name}" must be called differently`,
        context: { tool: name, severity: 'replanning' },
      });
    case 'failed':
    case 'ok':
    default:
      return createFailure('TOOL_EXECUTION_ERROR', {
        origin: 'tool',
        message: `"${name}" failed and left no reason`,
        context: { tool: name },
      });
  }
}

/** What the person said, where it was a no with words of their own. Our own words about a no are no reason for another plan. */
export function personReason({ failure }: CallRecord): string | undefined {
  const comment = failure?.context['comment'];
  return typeof comment === 'string' && comment.trim() !== '' ? comment.trim() : undefined;
}

/** A person said no to the plan as a whole. */
export function planDenied({ name }: PlanDefinition, { failure }: CallRecord): Failure {
  return createFailure('PERMISSION_DENIED', {
    origin: 'tool',
    sideEffect: 'none',
    message: `The plan of "${name}" was not approved`,
    hint: 'Run again and say what should be different; a denial with a reason makes another plan.',
    context: { ...failure?.context, plan: name },
    causes: failure === undefined ? [] : [{ name: failure.code, message: failure.message }],
  });
}

/** A bound of planning is reached. */
export function limitFailure(limit: keyof PlanLimits, { limits }: PlanDefinition, last: Failure): Failure {
  const what = limit === 'maxReclassifications' ? 'the choice of capabilities' : 'the plan';
  const { [limit]: bound } = limits;
  return createFailure('REPLAN_LIMIT', {
    origin: 'flow',
    message: `${last.message.replace(/[.\s]+$/u, '')}; ${what} may be made again ${times(bound)} ("${limit}")`,
    context: { ...last.context, severity: 'critical', limit, [limit]: bound, code: last.code },
    causes: [{ name: last.code, message: last.message }, ...last.causes],
  });
}

function times(bound: number): string {
  if (bound === 0) return 'never';
  return bound === 1 ? 'once' : `${bound} times`;
}

/** A model has not given an answer that can be used. */
export function unusableFailure(node: string, problem: string, attempts: number): Failure {
  return createFailure('PLAN_INVALID', {
    origin: 'flow',
    message: `The answer of "${node}" could not be used${attempts === 1 ? '' : `, ${attempts} times in a row`}: ${problem}`,
    context: { node, problem, attempts, limit: 'maxPlanAttempts' },
  });
}

/** Nothing that there is helps with the task. */
export function nothingFits({ name, capabilities }: PlanDefinition, why: string): Failure {
  const names = capabilities.map((one) => one.name);
  return createFailure('PLAN_INVALID', {
    origin: 'flow',
    message: `No capability of "${name}" fits the task (${why.replace(/[.\s]+$/u, '')}); there are ${names.join(', ')}`,
    hint: 'Ask for something that one of them can do, or give the plan a capability that can.',
    context: { capabilities: names, why },
  });
}

/** It happened, but what it provides is not known: it must not be done again, and nothing can continue without it. */
export function valuesMissing({ key, capability }: PlanStep, missing: readonly string[]): Failure {
  return createFailure('TOOL_EXECUTION_ERROR', {
    origin: 'tool',
    sideEffect: 'certain',
    message: `Step "${key}" (${capability}) has happened, but ${missing.map((name) => `"${name}"`).join(', ')} of it is not known`,
    hint: 'Let "verify" give back { happened: true, result } with the provided values, or answer the question about it with them.',
    context: { step: key, capability, severity: 'critical', missing: [...missing] },
  });
}

/** What the next step is to be handed is longer than a call can be. */
export function valuesTooLong({ key, capability }: PlanStep, characters: number): Failure {
  return createFailure('TOOL_EXECUTION_ERROR', {
    origin: 'tool',
    sideEffect: 'none',
    message: `Step "${key}" (${capability}) would be handed values of ${characters.toLocaleString('en-US')} characters, which is too long`,
    hint: 'Let the steps before it provide a reference instead, such as a path, a URL or an id.',
    context: { step: key, capability, severity: 'critical', characters },
  });
}
