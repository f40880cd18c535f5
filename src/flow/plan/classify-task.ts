import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { nearestNames } from '../../base/nearest.ts';
import { showName } from '../../model/check/show-value.ts';
import type { PlanAbout, PlanNode } from './plan-types.ts';
import { aboutData, joinParts, showCapabilities, showFailures, showReasons, showTask } from './show-about.ts';

/** The chosen capabilities, in the order of their definition; where there are none, why. */
export interface Chosen {
  readonly capabilities: readonly string[];
  readonly none?: string;
}

/** Chooses the capabilities for a task by one question about all of them. */
export const classifyTogether: PlanNode<Chosen> = {
  name: 'classify',
  ask: (about) => ({
    instructions: joinParts(
      'Choose the capabilities that the task needs. Take also those that provide a value that another chosen one requires. Leave out what is not needed. Where none of them can help, choose none and say why.',
      aboutData,
    ),
    prompt: joinParts(
      showTask(about),
      showCapabilities(about.capabilities),
      showFailures(about.progress),
      showReasons(about),
    ),
    form: {
      type: 'object',
      properties: {
        capabilities: { type: 'array', items: { type: 'string' }, description: 'Names from the list.' },
        none: { type: 'string', description: 'Why no capability fits; empty where one was chosen.' },
      },
      required: ['capabilities', 'none'],
      additionalProperties: false,
    },
  }),
  read: readTogether,
};

/** Says of one capability, `about.subject`, whether the task needs it. */
export const classifyEach: PlanNode<{ readonly isNeeded: boolean }> = {
  name: 'classify',
  ask: (about) => ({
    instructions: joinParts(
      `Say whether the task needs the capability "${about.subject ?? ''}": for its own result, or for a value that another step requires. The others are listed so that you can tell them apart.`,
      aboutData,
    ),
    prompt: joinParts(
      showTask(about),
      showCapabilities(about.capabilities),
      showFailures(about.progress),
      showReasons(about),
    ),
    form: {
      type: 'object',
      properties: { isNeeded: { type: 'boolean' } },
      required: ['isNeeded'],
      additionalProperties: false,
    },
  }),
  read: (answer) => {
    const isNeeded = isRecord(answer) ? answer['isNeeded'] : undefined;
    return typeof isNeeded === 'boolean' ? { isNeeded } : { problem: '"isNeeded" must be true or false' };
  },
};

function readTogether(answer: Json, { capabilities }: PlanAbout): Chosen | { readonly problem: string } {
  const given = isRecord(answer) ? answer['capabilities'] : undefined;
  if (!Array.isArray(given)) return { problem: '"capabilities" must be a list of names' };
  const known = capabilities.map(({ name }) => name);
  for (const name of given as readonly unknown[]) {
    if (typeof name === 'string' && known.includes(name)) continue;
    const text = typeof name === 'string' ? name : JSON.stringify(name);
    const [nearest] = nearestNames(text, known);
    const advice = nearest === undefined ? `there are ${known.join(', ')}` : `did you mean "${nearest}"?`;
    return { problem: `there is no capability ${showName(text)}: ${advice}` };
  }
  const chosen = known.filter((name) => given.includes(name));
  if (chosen.length > 0) return { capabilities: chosen };
  const none = isRecord(answer) ? answer['none'] : undefined;
  return {
    capabilities: [],
    none: typeof none === 'string' && none.trim() !== '' ? none.trim() : 'no reason was given',
  };
}
