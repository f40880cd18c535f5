// What the agents of bench/goodput.mjs do: five steps, each of which needs what the one before gave, and an answer that proves it.
import { createHash } from 'node:crypto';
import { z } from 'zod';

export const steps = [1, 2, 3, 4, 5];
export const instructions =
  'You do the five steps of a task, one after the other, and then say its last token.';
export const stepSchema = z.object({ task: z.number().int(), token: z.string() });
export const stepJsonSchema = {
  type: 'object',
  properties: { task: { type: 'integer' }, token: { type: 'string' } },
  required: ['task', 'token'],
  additionalProperties: false,
};

/** @param {number} task */
export const promptOf = (task) => `Task ${task}: do its five steps. The first token is ${tokenOf(task, 0)}.`;

/** @param {number} step */
export const toolNameOf = (step) => `step_${step}`;

/** @param {number} step */
export const toolDescriptionOf = (step) => `Does step ${step}. It needs the token of the step before.`;

/**
 * Nobody can guess it, so that whoever says it has been given it.
 *
 * @param {number} task
 * @param {number} step
 */
export function tokenOf(task, step) {
  return createHash('sha256').update(`${task}/${step}`).digest('hex').slice(0, 16);
}

/** @param {number} task */
export const lastTokenOf = (task) => tokenOf(task, steps.length);

/** Does steps and counts them, for an effect that happens twice must show. */
export function createWork() {
  /** @type {Map<string, number>} */
  const effects = new Map();
  return {
    /**
     * @param {number} step
     * @param {{ task: number, token: string }} input
     */
    perform(step, { task, token }) {
      if (token !== tokenOf(task, step - 1)) throw new Error(`That is not the token of step ${step - 1}`);
      const name = `${task}/${step}`;
      effects.set(name, (effects.get(name) ?? 0) + 1);
      return `Step ${step} is done, its token is ${tokenOf(task, step)}.`;
    },
    doubled: () => [...effects.values()].filter((count) => count > 1).length,
  };
}

/**
 * A model that does its work: it reads the conversation and takes the next step, whatever went wrong in between.
 *
 * @param {import('../dist/chaos/index.js').MindRequest} request
 * @returns {import('../dist/chaos/index.js').ChaosTurn}
 */
export function think({ messages }) {
  const text = JSON.stringify(messages);
  const task = Number(/Task (\d+):/.exec(text)?.[1]);
  const done = [...text.matchAll(/Step (\d) is done, its token is ([0-9a-f]+)/g)];
  const { step, token } = done.reduce(
    (latest, [, number = '', found = '']) =>
      Number(number) > latest.step ? { step: Number(number), token: found } : latest,
    { step: 0, token: /The first token is ([0-9a-f]+)/.exec(text)?.[1] ?? '' },
  );
  if (step >= steps.length) return { text: `Task ${task} is done, and its last token is ${token}.` };
  return { toolCalls: [{ name: toolNameOf(step + 1), arguments: { task, token } }] };
}
