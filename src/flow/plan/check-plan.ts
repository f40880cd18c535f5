import { nearestNames } from '../../base/nearest.ts';
import { showName } from '../../model/check/show-value.ts';
import type { Capability, PlanProgress, PlanStep } from './plan-types.ts';

/** What a plan is held against. */
export interface PlanBounds {
  readonly capabilities: readonly Pick<Capability, 'name' | 'requires' | 'provides'>[];
  /** Names of those that the classifier chose. */
  readonly chosen: readonly string[];
  /** Of finished steps. */
  readonly values: PlanProgress['values'];
  /** Finished steps. */
  readonly finished: readonly PlanStep[];
  /** Of the whole run, finished ones counted. */
  readonly maxSteps: number;
}

/** A plan that can be carried out, or why it cannot and who is to be asked again. */
export type PlanCheck =
  /** Those that are not done yet, in order. */
  | { readonly type: 'ok'; readonly open: readonly PlanStep[] }
  | { readonly type: 'problem'; readonly problem: string; readonly route: 'replan' | 'reclassify' };

/**
 * Checks a plan before anything of it is done: known and chosen capabilities, unique keys, every required value bound to an
 * earlier or finished step that provides it, a bounded length. A finished step that is listed again counts as kept.
 */
export function checkPlan(steps: readonly PlanStep[], bounds: PlanBounds): PlanCheck {
  const { finished, maxSteps } = bounds;
  const open: PlanStep[] = [];
  const keys = new Set<string>();
  for (const step of steps) {
    if (keys.has(step.key)) return replan(`two steps have the key ${showName(step.key)}`);
    keys.add(step.key);
    const done = finished.find(({ key }) => key === step.key);
    if (done === undefined) open.push(step);
    else if (!isSameWork(done, step)) {
      return replan(`step ${showName(step.key)} is done already: give the new step a key of its own`);
    }
  }
  if (open.length === 0 && finished.length === 0) return replan('the plan has no step');
  if (finished.length + open.length > maxSteps) return replan(tooLong(open.length, bounds));
  for (const [index, step] of open.entries()) {
    const found = checkStep(step, { open, index, bounds });
    if (found !== undefined) return found;
  }
  return { type: 'ok', open };
}

function replan(problem: string): PlanCheck {
  return { type: 'problem', problem, route: 'replan' };
}

/** Whether two steps do the same with the same values, whatever words the planner found for it. */
function isSameWork(one: PlanStep, other: PlanStep): boolean {
  const names = Object.keys(one.inputs);
  return (
    one.capability === other.capability &&
    names.length === Object.keys(other.inputs).length &&
    names.every((name) => one.inputs[name] === other.inputs[name])
  );
}

function tooLong(open: number, { finished, maxSteps }: PlanBounds): string {
  const before = finished.length;
  const done = before === 0 ? '' : `, and ${before} ${before === 1 ? 'is' : 'are'} done already`;
  return `the plan has ${open} ${open === 1 ? 'step' : 'steps'} to do${done}; at most ${maxSteps} ${maxSteps === 1 ? 'is' : 'are'} allowed in all`;
}

interface At {
  readonly open: readonly PlanStep[];
  readonly index: number;
  readonly bounds: PlanBounds;
}

/** Begins with a letter, so that it can be a member of any object. */
const legalKey = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

function checkStep(step: PlanStep, at: At): PlanCheck | undefined {
  const { key, inputs } = step;
  if (!legalKey.test(key)) {
    const rule = 'a key is a letter, then at most 63 letters, digits, "_" or "-"';
    return replan(`the key ${showName(key)} cannot be used: ${rule}`);
  }
  const capability = at.bounds.capabilities.find(({ name }) => name === step.capability);
  if (capability === undefined || !at.bounds.chosen.includes(step.capability))
    return wrongCapability(step, at);
  const extra = Object.keys(inputs).find((name) => !capability.requires.includes(name));
  if (extra !== undefined) {
    const takes = capability.requires.length === 0 ? 'no value' : `only ${listed(capability.requires)}`;
    return replan(
      `step "${key}" is given ${showName(extra)}, and capability "${capability.name}" takes ${takes}`,
    );
  }
  for (const name of capability.requires) {
    const problem = checkInput(step, name, at);
    if (problem !== undefined) return replan(problem);
  }
  return undefined;
}

function wrongCapability({ key, capability }: PlanStep, { bounds }: At): PlanCheck {
  const { capabilities, chosen } = bounds;
  const isKnown = capabilities.some(({ name }) => name === capability);
  const [nearest] = nearestNames(capability, chosen);
  const advice = nearest === undefined ? `there are ${listed(chosen)}` : `did you mean "${nearest}"?`;
  const problem = isKnown
    ? `step "${key}" needs capability "${capability}", which was not chosen`
    : `step "${key}" names capability ${showName(capability)}, which does not exist: ${advice}`;
  return { type: 'problem', problem, route: 'reclassify' };
}

/** What is wrong with where a step takes a value from. */
function checkInput({ key, inputs }: PlanStep, name: string, at: At): string | undefined {
  const { open, index, bounds } = at;
  const from = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
  const sources = sourcesOf(name, at);
  const there = sources.length === 0 ? 'no step before it provides it' : `it is there in ${listed(sources)}`;
  if (from === undefined)
    return `step "${key}" requires the value "${name}" and does not say from which step: ${there}`;
  if (sources.includes(from)) return undefined;
  const what = `step "${key}" takes the value "${name}" from step ${showName(from)}`;
  if (from === key) return `${what}, which is itself: ${there}`;
  if (open.slice(index + 1).some((step) => step.key === from)) return `${what}, which comes later: ${there}`;
  const isThere = open.some((step) => step.key === from) || Object.hasOwn(bounds.values, from);
  return isThere ? `${what}, which does not provide it: ${there}` : `${what}, which does not exist: ${there}`;
}

/** Keys of the steps from which a step can take a value. */
function sourcesOf(name: string, { open, index, bounds }: At): readonly string[] {
  const { capabilities, values } = bounds;
  const finished = Object.keys(values).filter((key) => Object.hasOwn(values[key] ?? {}, name));
  const before = open
    .slice(0, index)
    .filter((step) => capabilities.find((one) => one.name === step.capability)?.provides.includes(name))
    .map(({ key }) => key);
  return [...finished, ...before];
}

function listed(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
