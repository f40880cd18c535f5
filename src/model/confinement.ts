import type { Tool } from './tool.ts';

/** How far commands must be held at least, the strongest first. */
export const confinementLevels = ['contained', 'restricted', 'bare'] as const;

export type ConfinementLevel = (typeof confinementLevels)[number];

/** What a tool that runs commands demands of its sandbox. */
export interface Confinement {
  /** Nothing where it takes what there is. */
  readonly min: ConfinementLevel | undefined;
  /** The same tool, which runs nothing in a weaker sandbox than this. */
  readonly holdTo: (min: ConfinementLevel) => Tool;
}

const confinements = new WeakMap<Tool, Confinement>();

/** Says of a tool that it runs commands, and how it is held. */
export function markConfined(tool: Tool, confinement: Confinement): Tool {
  confinements.set(tool, confinement);
  return tool;
}

/** What this tool demands of its sandbox; nothing where it runs no commands, or takes what there is. */
export function levelOf(tool: Tool): ConfinementLevel | undefined {
  return confinements.get(tool)?.min;
}

/** The strictest that is demanded. */
export function strictestLevel(
  levels: readonly (ConfinementLevel | undefined)[],
): ConfinementLevel | undefined {
  return confinementLevels.find((level) => levels.includes(level));
}

/** What the tools of an agent demand, the strictest of it. */
export function confinementOf(tools: readonly Tool[]): ConfinementLevel | undefined {
  return strictestLevel(tools.map(levelOf));
}

/** The same tools, none of them held less than this. */
export function holdTools(tools: readonly Tool[], min: ConfinementLevel | undefined): readonly Tool[] {
  if (min === undefined) return tools;
  return tools.map((tool) => confinements.get(tool)?.holdTo(min) ?? tool);
}
