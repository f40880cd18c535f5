import { isRecord } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { adviseName, nearestNames } from '../../base/nearest.ts';
import { nodeNames } from './plan-state.ts';
import type { PlanDefinition, PlanLimits } from './plan-types.ts';

/** What holds by default. */
export const defaultPlanLimits: PlanLimits = {
  maxSteps: 20,
  maxReplans: 2,
  maxReclassifications: 1,
  maxClarifications: 2,
  maxPlanAttempts: 2,
};

/** Far beyond what a model can oversee. */
const maxCapabilities = 200;
const highestLimit = 1000;

/** Fills in the rest, and throws a `FlowError` that names the first bound that makes no sense. */
export function resolvePlanLimits(given: Partial<PlanLimits> = {}): PlanLimits {
  const limits: Record<string, number> = { ...defaultPlanLimits };
  if (!isRecord(given)) throw invalid('"bounds" of plan() must be an object: { maxSteps: 40 }', {});
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(defaultPlanLimits, name)) throw unknownBound(name);
    const least = name === 'maxSteps' ? 1 : 0;
    if (!Number.isSafeInteger(value) || value < least || value > highestLimit) {
      const rule = `a whole number from ${least} to ${highestLimit}`;
      throw invalid(`"bounds.${name}" of plan() must be ${rule}, got ${String(value)}`, { field: name });
    }
    limits[name] = value;
  }
  return limits as unknown as PlanLimits; // Every field came from the defaults.
}

/** Throws a `FlowError` where the capabilities of a plan cannot stand beside each other or can never be used. */
export function checkPlanDefinition({ name, capabilities }: PlanDefinition): void {
  const what = `Cannot create the plan "${name}"`;
  if (capabilities.length === 0)
    throw invalid(`${what}: it has no capability; give it at least one`, { plan: name });
  if (capabilities.length > maxCapabilities) {
    throw invalid(
      `${what}: it has ${capabilities.length} capabilities, at most ${maxCapabilities} are allowed: leave out some, or make several plans`,
      {
        plan: name,
      },
    );
  }
  const reserved: readonly string[] = Object.values(nodeNames);
  const seen = new Set<string>();
  for (const { name: own } of capabilities) {
    if (reserved.includes(own)) {
      const mend = `choose another name; ${reserved.join(', ')} are steps of every plan`;
      throw invalid(`${what}: no capability may be called "${own}": ${mend}`, {
        plan: name,
        capability: own,
      });
    }
    if (seen.has(own)) {
      const mend = 'rename one of them';
      throw invalid(`${what}: two capabilities are called "${own}": ${mend}`, {
        plan: name,
        capability: own,
      });
    }
    seen.add(own);
  }
  checkRequirements(what, capabilities);
}

/** A value that no capability provides makes a capability that no plan can ever use. */
function checkRequirements(what: string, capabilities: PlanDefinition['capabilities']): void {
  const provided = [...new Set(capabilities.flatMap(({ provides }) => provides))];
  for (const { name, requires } of capabilities) {
    const lost = requires.find((value) => !provided.includes(value));
    if (lost === undefined) continue;
    const [nearest] = nearestNames(lost, provided);
    const mend =
      nearest === undefined
        ? 'add a capability that provides it, or take it out of "requires"'
        : `did you mean "${nearest}"?`;
    throw invalid(
      `${what}: capability "${name}" requires the value "${lost}", which none provides: ${mend}`,
      {
        capability: name,
        value: lost,
      },
    );
  }
}

function unknownBound(name: string): RerailError {
  const names = Object.keys(defaultPlanLimits);
  return invalid(`There is no bound "${name}" of plan(): ${adviseName(name, names)}`, { field: name });
}

function invalid(message: string, context: Readonly<Record<string, string>>): RerailError {
  return RerailError.from(createFailure('FLOW_INVALID', { origin: 'flow', message, context }));
}
