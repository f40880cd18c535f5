// The one task that every contestant of bench/agent.mjs does: look things up, one per turn, then say so.
import { z } from 'zod';

export const key = 'bench-key-0123456789';
export const modelName = 'instant';
export const instructions = 'You look things up, one after the other.';
export const prompt = 'Look up every step, then say that you are done.';
export const answer = 'All the steps have been looked up.';

export const toolName = 'lookup';
export const toolDescription = 'Looks up one step.';
export const toolSchema = z.object({ query: z.string() });
export const toolJsonSchema = {
  type: 'object',
  properties: { query: { type: 'string' } },
  required: ['query'],
  additionalProperties: false,
};

/**
 * No two calls are alike, and no two results: who watches for endless loops must not find one here.
 *
 * @param {number} turn counted from 0
 */
export const argumentsOf = (turn) => `{"query":"step ${turn}"}`;

/** @param {{ query: string }} input */
export const lookUp = ({ query }) => `The result of ${query} is in order.`;

/**
 * How a contestant is made. `baseURL` is for those that ask a server, the rest for those with a model in the process: `turns`
 * is how many turns its conversation has, the answer included, and `onTurn` must be told each of them, counted from 0.
 *
 * @typedef {{ baseURL: string, turns: number }} ServedTask
 * @typedef {{ turns: number, onTurn: (turn: number) => void }} InProcessTask
 * @typedef {() => Promise<string>} Run one whole conversation, to its last text
 * @typedef {{
 *   served?: (task: ServedTask) => Promise<Run> | Run,
 *   inProcess?: (task: InProcessTask) => Promise<Run> | Run,
 * }} Contestant
 */
