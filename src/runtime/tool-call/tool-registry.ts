import { nearestNames } from '../../base/nearest.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { ToolDefinition } from '../../model/request.ts';
import { showName } from '../../model/check/show-value.ts';
import type { Tool } from '../../model/tool.ts';

/** The tools of an agent by name. */
export interface ToolRegistry {
  readonly get: (name: string) => Tool | undefined;
  readonly names: readonly string[];
  /** As the model gets them. The same list each time, so that a request costs no copy. */
  readonly definitions: readonly ToolDefinition[];
  /** The same without some of them. Again the same list for the same names. */
  readonly without: (names: ReadonlySet<string>) => readonly ToolDefinition[];
  /** What to say to a call of a tool that is not there. */
  readonly findUnknown: (name: string) => Failure;
}

/** Throws a `RegistryError` where two tools have one name. */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw takenName(tool.name);
    byName.set(tool.name, tool);
  }
  const names = Object.freeze([...byName.keys()]);
  const definitions = Object.freeze(tools.map((tool) => toDefinition(tool)));
  const selections = new Map<string, readonly ToolDefinition[]>();
  return {
    get: (name) => byName.get(name),
    names,
    definitions,
    without: (left) => (left.size === 0 ? definitions : select({ definitions, selections }, left)),
    findUnknown: (name) => unknownTool(name, names),
  };
}

function takenName(name: string): RerailError {
  const message = `Cannot use two tools named "${name}": rename one of them`;
  return RerailError.from(
    createFailure('ALREADY_REGISTERED', { origin: 'registry', message, context: { tool: name } }),
  );
}

function toDefinition({ name, description, parameters, strict }: Tool): ToolDefinition {
  return Object.freeze({ name, description, parameters, ...(strict === undefined ? {} : { strict }) });
}

interface Selecting {
  readonly definitions: readonly ToolDefinition[];
  readonly selections: Map<string, readonly ToolDefinition[]>;
}

/** Runs withdraw few tools, and mostly the same. */
const maxSelections = 100;

function select(
  { definitions, selections }: Selecting,
  left: ReadonlySet<string>,
): readonly ToolDefinition[] {
  // A line break is in no name.
  const key = [...left].toSorted().join('\n');
  const known = selections.get(key);
  if (known !== undefined) return known;
  if (selections.size >= maxSelections) selections.clear();
  const selection = Object.freeze(definitions.filter(({ name }) => !left.has(name)));
  selections.set(key, selection);
  return selection;
}

const maxListedNames = 40;

function unknownTool(name: string, names: readonly string[]): Failure {
  const nearest = nearestNames(name, names);
  const meant =
    nearest.length === 0 ? '' : ` Did you mean ${nearest.map((near) => `"${near}"`).join(' or ')}?`;
  return createFailure('TOOL_NOT_FOUND', {
    origin: 'tool',
    message: `There is no tool ${showName(name)}.${meant} ${listNames(names)}`,
    phase: 'parse',
    sideEffect: 'none',
    context: { tool: name.slice(0, 64), nearest },
  });
}

function listNames(names: readonly string[]): string {
  if (names.length === 0) return 'There are no tools at all.';
  const more = names.length > maxListedNames ? ` and ${names.length - maxListedNames} more` : '';
  return `The tools are: ${names.slice(0, maxListedNames).join(', ')}${more}.`;
}
