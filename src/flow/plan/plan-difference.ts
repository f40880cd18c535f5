import { printable } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';
import type { PlanStep } from './plan-types.ts';

const maxObjectiveCharacters = 200;

/**
 * What a new plan changes, a line for each step: what was there in its old order, then what is new.
 *
 * @example planDifference([read], [read, mail]); // ['kept read (read_sensor)', 'added mail (send_mail): tell the team']
 */
export function planDifference(before: readonly PlanStep[], after: readonly PlanStep[]): readonly string[] {
  const old = before.map((step) => {
    const now = after.find(({ key }) => key === step.key);
    return now === undefined ? `removed ${named(step)}` : compared(step, now);
  });
  const added = after
    .filter(({ key }) => before.every((step) => step.key !== key))
    .map((step) => `added ${named(step)}: ${shown(step.objective)}`);
  return [...old, ...added];
}

function named({ key, capability }: PlanStep): string {
  return `${printable(key)} (${printable(capability)})`;
}

function shown(text: string): string {
  return boundText(printable(text), maxObjectiveCharacters);
}

function compared(before: PlanStep, after: PlanStep): string {
  const changes = [
    ...(before.capability === after.capability
      ? []
      : [`${printable(before.capability)} becomes ${printable(after.capability)}`]),
    ...inputChanges(before, after),
    ...(before.objective === after.objective ? [] : [`now: ${shown(after.objective)}`]),
  ];
  return changes.length === 0 ? `kept ${named(before)}` : `changed ${named(before)}: ${changes.join('; ')}`;
}

function inputChanges(before: PlanStep, after: PlanStep): readonly string[] {
  const names = new Set([...Object.keys(before.inputs), ...Object.keys(after.inputs)]);
  return [...names].flatMap((name) => {
    const was = before.inputs[name];
    const is = after.inputs[name];
    if (was === is) return [];
    if (is === undefined) return [`takes no ${printable(name)} any more`];
    const now = `takes ${printable(name)} from ${printable(is)}`;
    return [was === undefined ? now : `${now} instead of ${printable(was)}`];
  });
}
