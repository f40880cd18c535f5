import type { Json } from '../base/json.ts';
import type { Tool } from './tool.ts';

/** The same input with names of files as the opened objects have them; nothing where that is what it says already. */
export type JudgedInput = (input: Json) => Json | undefined;

const judged = new WeakMap<Tool, JudgedInput>();

/** Says of a tool what its input really names, so that rules about names see through links and detours. */
export function markJudged(tool: Tool, resolve: JudgedInput): Tool {
  judged.set(tool, resolve);
  return tool;
}

/** The input in all ways in which rules judge it: as it was written, and as what it names. */
export function judgedInputs(tool: Tool, input: Json): readonly Json[] {
  const resolved = judged.get(tool)?.(input);
  return resolved === undefined ? [input] : [input, resolved];
}
