import { isRecord } from '../../base/json.ts';
import { nearestNames } from '../../base/nearest.ts';
import { unknownIn } from './check-fields.ts';
import { showName, showValue } from './show-value.ts';
import { isToolName } from '../tool-name.ts';

/** What is wrong with the tools, the choice among them and the schema of the answer. */
export function findToolProblems({
  tools,
  toolChoice,
  output,
}: Readonly<Record<string, unknown>>): readonly string[] {
  if (tools === undefined && toolChoice === undefined && output === undefined) return none;
  if (tools !== undefined && !Array.isArray(tools)) {
    return [`"tools" must be a list of ${toolForm}, got ${showValue(tools)}`];
  }
  const given: readonly unknown[] = tools ?? none;
  const names = new Set<string>();
  const problems: string[] = [];
  for (let index = 0; index < given.length; index += 1) {
    const tool = given[index];
    const problem = findToolProblem(tool, names);
    if (problem !== undefined) problems.push(`${placeOf(tool, index)} ${problem}`);
  }
  // A tool that is none has no name that a choice could be held against.
  const isKnown = problems.length === 0;
  const found = [isKnown ? findChoiceProblem(toolChoice, names) : undefined, findOutputProblem(output)];
  return [...problems, ...found.filter((problem) => problem !== undefined)];
}

const none: readonly never[] = [];
const toolForm = '{ name, description, parameters }';

const nameRule = 'must be 1 to 64 letters, digits, "_" or "-"';

function placeOf(tool: unknown, index: number): string {
  const name = isRecord(tool) ? tool['name'] : undefined;
  return typeof name === 'string' ? `the tool ${showName(name)}` : `tools[${index}]`;
}

function findToolProblem(tool: unknown, names: Set<string>): string | undefined {
  if (!isRecord(tool)) return `must be ${toolForm}, got ${showValue(tool)}`;
  const { name, description, parameters } = tool;
  if (isRecord(tool['function']))
    return `is in the form of OpenAI: write ${toolForm} without "function" around it`;
  if (typeof name !== 'string') return `must have a "name" that is a text, got ${showValue(name)}`;
  if (!isToolName(name)) return `has a bad name: it ${nameRule}`;
  if (names.has(name)) return 'is there twice: every tool needs its own name';
  names.add(name);
  if (description !== undefined && typeof description !== 'string') {
    return `must have a "description" that is a text, got ${showValue(description)}`;
  }
  if (isRecord(parameters))
    return isLibrarySchema(parameters) ? `"parameters" ${libraryRule}` : misspeltIn(tool);
  const elsewhere = ['inputSchema', 'input_schema', 'schema'].find((field) => tool[field] !== undefined);
  if (parameters === undefined && elsewhere !== undefined) {
    return `has its JSON Schema in "${elsewhere}": call that field "parameters"`;
  }
  return `must have "parameters", a JSON Schema ({ type: 'object', properties: {} } for none), got ${showValue(parameters)}`;
}

const toolFields = ['name', 'description', 'parameters', 'strict'];

/** A tool may have other fields, such as those of `tool()`; one that looks like a field that is absent was meant to be that. */
function misspeltIn(tool: Readonly<Record<string, unknown>>): string | undefined {
  const absent = toolFields.filter((field) => tool[field] === undefined);
  for (const field of absent.length === 0 ? none : Object.keys(tool)) {
    if (toolFields.includes(field)) continue;
    const [meant] = nearestNames(field, absent);
    if (meant !== undefined) return `has no field ${showName(field)}: did you mean "${meant}"?`;
  }
  return undefined;
}

const libraryRule = 'must be a JSON Schema as plain data: with Zod, hand in z.toJSONSchema(schema)';

/** Zod and Valibot schemas are objects too, and would be sent as their inner workings. */
function isLibrarySchema(schema: Readonly<Record<string, unknown>>): boolean {
  return typeof schema['safeParse'] === 'function' || typeof schema['~run'] === 'function';
}

const choices: ReadonlySet<unknown> = new Set(['auto', 'required', 'none']);

function findChoiceProblem(choice: unknown, names: ReadonlySet<string>): string | undefined {
  if (choice === 'required' && names.size === 0) return '"toolChoice" is "required", but there are no tools';
  if (choice === undefined || choices.has(choice)) return undefined;
  const name = isRecord(choice) ? choice['name'] : undefined;
  const [unknown] =
    isRecord(choice) && typeof name === 'string' ? unknownIn('toolChoice', choice, ['name']) : [];
  if (unknown !== undefined) return unknown;
  if (typeof name !== 'string') {
    const rule = `"toolChoice" must be "auto", "required", "none" or { name }, got ${showValue(choice)}`;
    if (choice === 'any') return `${rule}: write "required"`;
    return isRecord(choice) && isRecord(choice['function'])
      ? `${rule} in the form of OpenAI: write { name }`
      : rule;
  }
  if (names.has(name)) return undefined;
  return `"toolChoice" names ${showName(name)}, which is not among the tools`;
}

function findOutputProblem(output: unknown): string | undefined {
  if (output === undefined) return undefined;
  if (!isRecord(output)) return `"output" must be { name, schema }, got ${showValue(output)}`;
  const { name, schema } = output;
  if (typeof name !== 'string' || !isToolName(name))
    return `"output.name" ${nameRule}, got ${showValue(name)}`;
  if (!isRecord(schema)) return `"output.schema" must be a JSON Schema, got ${showValue(schema)}`;
  if (isLibrarySchema(schema)) return `"output.schema" ${libraryRule}`;
  return unknownIn('output', output, ['name', 'schema', 'strict'])[0];
}
