import { configError } from '../errors/config-error.ts';
import type { OptionRule } from './check/check-options.ts';
import { checkToolFields } from './check/check-tool-fields.ts';
import type { JsonSchema } from './request.ts';
import { isStandardSchema, readSchema } from './schema/schema.ts';
import { showValue } from './check/show-value.ts';
import type {
  ErrorVerdict,
  Parsed,
  Permission,
  Repeats,
  Schema,
  Tool,
  ToolContext,
  ToolEffect,
  Verified,
} from './tool.ts';
import { toWireSchema } from './schema/tool-schema.ts';

/** Where the code of a tool lies that runs in a thread of its own. */
export interface ToolModule {
  readonly module: string | URL;
  /** Defaults to `default`. */
  readonly export?: string;
}

/** What a tool is made of. Only `name`, `description`, `input` and `execute` must be there. */
export interface ToolDefinitionInput<S extends Schema> {
  /** 1 to 64 letters, digits, `_` or `-`. */
  readonly name: string;
  /** For the model: what it does, and when to use it. */
  readonly description: string;
  /** A schema of zod, valibot, arktype …, or JSON Schema with `type: 'object'`. `z.object({})` for none. */
  readonly input: S;
  /** Defaults to `once`: a call that may have happened is never repeated. */
  readonly effect?: ToolEffect;
  /** Defaults to 30 s. */
  readonly timeoutMs?: number;
  /** Defaults to `allow`. */
  readonly permission?: Permission;
  /** Defaults to 50,000. */
  readonly maxResultCharacters?: number;
  readonly repeats?: Repeats;
  /** Calls that name the same resource run one after the other. */
  readonly resource?: string | ((input: Parsed<S>) => string | undefined);
  /** `abort` ends the run at a failure, instead of telling the model. */
  readonly onError?: 'tell' | 'abort';
  readonly strict?: boolean;
  /** What the model gets instead of the JSON Schema of `input`. */
  readonly parameters?: JsonSchema;
  /** Runs it in a thread of its own, which can be ended: see `tool()`. */
  readonly isolate?: boolean | ToolModule;
  readonly execute: (input: Parsed<S>, context: ToolContext) => unknown;
  /** Settles a call whose end is unknown. */
  readonly verify?: (input: Parsed<S>, context: ToolContext) => Verified | Promise<Verified>;
  readonly classifyError?: (error: unknown) => ErrorVerdict | undefined;
}

const defaultToolTimeoutMs = 30_000;
const defaultMaxResultCharacters = 50_000;

/** Checks a definition and makes a tool of it. A tool is returned as it is. Throws a `ConfigError` that names the field. */
export function defineTool<S extends Schema>(definition: ToolDefinitionInput<S> | Tool): Tool {
  if (isTool(definition)) return definition;
  checkToolFields(definition);
  const { name, input, parameters } = definition;
  const what = `the input of tool "${name}"`;
  const schema = readSchema(input, what, { parameters });
  checkRoot(schema.json, definition);
  const tool = toTool(definition, { parameters: schema.json, parse: schema.check });
  Object.defineProperty(tool, brand, { value: true });
  if (schema.warnings.length > 0) warnings.set(tool, schema.warnings);
  return Object.freeze(tool);
}

// A symbol of the global registry, so that tools of a second copy of this package are recognised too.
const brand = Symbol.for('rerail.tool');
const warnings = new WeakMap<Tool, readonly string[]>();

/** Whether something was made by `tool()`. */
export function isTool(value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, brand);
}

/** For options that take tools. */
export const someTools: OptionRule = {
  isLegal: (value) => Array.isArray(value) && value.every(isTool),
  expected: 'a list of tools, each made with tool({ … })',
};

/** What of a tool's JSON Schema is not checked, and why: such as a pattern that could hang the process. */
export function warningsOf(tool: Tool): readonly string[] {
  return warnings.get(tool) ?? [];
}

/** Providers take nothing else for the arguments of a tool. A choice among objects is sent as one object that fits them all. */
function checkRoot(json: JsonSchema, { name, input }: ToolDefinitionInput<Schema>): void {
  if (json['type'] === 'object') return;
  const isChoice = ['anyOf', 'oneOf', 'allOf', '$ref'].some((word) => json[word] !== undefined);
  if (isChoice && toWireSchema(json, 'openai').type === 'schema') return;
  const wrap = isStandardSchema(input)
    ? 'wrap it in an object, such as z.object({ value: … })'
    : "write { type: 'object', properties: { … } }";
  throw configError(
    `Cannot define tool "${name}": "input" must be a schema of an object, got one of type ${showValue(json['type'])}: ${wrap}`,
  );
}

function toTool<S extends Schema>(
  definition: ToolDefinitionInput<S>,
  { parameters, parse }: Pick<Tool, 'parameters' | 'parse'>,
): Tool {
  const { name, description, strict, repeats, resource, onError, execute, verify, classifyError } =
    definition;
  // A tool forgets the type of its input: `parse` stands between the model and these functions.
  const typed = { execute, verify, resource } as Pick<Tool, 'execute' | 'verify' | 'resource'>;
  return {
    name,
    description,
    parameters,
    effect: definition.effect ?? 'once',
    timeoutMs: definition.timeoutMs ?? defaultToolTimeoutMs,
    permission: definition.permission ?? 'allow',
    maxResultCharacters: definition.maxResultCharacters ?? defaultMaxResultCharacters,
    parse,
    execute: typed.execute,
    ...(strict === undefined ? {} : { strict }),
    ...(repeats === undefined ? {} : { repeats }),
    ...(typed.resource === undefined ? {} : { resource: typed.resource }),
    ...(onError === undefined ? {} : { onError }),
    ...(typed.verify === undefined ? {} : { verify: typed.verify }),
    ...(classifyError === undefined ? {} : { classifyError }),
  };
}

/** What a tool returns to have a person asked: made by `askPerson`. */
export interface PersonQuestion {
  readonly question: string;
}

/**
 * Returned by a tool in the place of a result: a person is asked, and what they say is the result. The tool is not called again.
 *
 * @example execute: ({ city }) => (city === '' ? askPerson('Which city?') : lookUp(city))
 */
export function askPerson(question: string): PersonQuestion {
  return Object.freeze(Object.defineProperty({ question }, questionBrand, { value: true }));
}

const questionBrand = Symbol.for('rerail.person-question');

/** Whether something was made by `askPerson`. */
export function isPersonQuestion(value: unknown): value is PersonQuestion {
  try {
    return typeof value === 'object' && value !== null && Object.hasOwn(value, questionBrand);
  } catch {
    return false; // A Proxy that refuses to be inspected was not made here.
  }
}
