import { copyStrictJson } from '../../agent/report/strict-json.ts';
import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { severities } from '../../errors/codes.ts';
import type { Severity } from '../../errors/codes.ts';
import { thrownOf } from '../../errors/live-errors.ts';
import { defineTool } from '../../model/define-tool.ts';
import type { ReadSchema } from '../../model/schema/schema.ts';
import { showValue } from '../../model/check/show-value.ts';
import type {
  ErrorVerdict,
  FailDetails,
  InvalidInput,
  SchemaIssue,
  Tool,
  ToolContext,
} from '../../model/tool.ts';
import { readValueSchema } from './capability.ts';
import type { Capability, CapabilityContext, ParsedValues, Values } from './plan-types.ts';

/** The longest JSON of provided values that is kept: the steps after it are handed it. */
export const maxProvidedCharacters = 1_000_000;

/** What a step is called with, on record. */
export interface StepInput {
  readonly key?: string;
  readonly task: string;
  readonly objective: string;
  readonly values: Readonly<Record<string, Json>>;
  /** What is new in the plan that this is the first step of. */
  readonly difference?: readonly string[];
}

/** A capability as a tool of the plan's run: what it is given and what it provides pass through their schemas. */
export function capabilityTool(capability: Capability): Tool {
  const held = hold(capability);
  const { name, description, options } = capability;
  const { effect = 'once', timeoutMs, permission, verify, classifyError } = options;
  return defineTool({
    name,
    description,
    input: inputForm,
    effect,
    maxResultCharacters: maxProvidedCharacters,
    // The same step may be called again after a failure, and its result may well be the same.
    repeats: 'any',
    execute: (input, context) => execute(held, stepInput(input), context),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(permission === undefined ? {} : { permission }),
    ...(verify === undefined
      ? {}
      : { verify: (input, context) => askVerify(held, stepInput(input), context) }),
    ...(classifyError === undefined
      ? {}
      : { classifyError: (error: unknown) => verdictOf(classifyError(error)) }),
  });
}

const text = { type: 'string' } as const;
const inputForm = {
  type: 'object',
  properties: {
    key: text,
    task: text,
    objective: text,
    values: { type: 'object' },
    difference: { type: 'array', items: text },
  },
  required: ['task', 'objective', 'values'],
  additionalProperties: false,
} as const;

/** The schema above has seen it. */
function stepInput(input: unknown): StepInput {
  return input as StepInput;
}

interface Held {
  readonly capability: Capability;
  readonly requires: ReadonlyMap<string, ReadSchema>;
  readonly provides: ReadonlyMap<string, ReadSchema>;
}

function hold(capability: Capability): Held {
  const { requires = {}, provides = {} } = capability.options;
  return {
    capability,
    requires: readAll(capability, requires),
    provides: readAll(capability, provides),
  };
}

function readAll({ name: owner }: Capability, values: Values): ReadonlyMap<string, ReadSchema> {
  return new Map(
    Object.entries(values).map(([name, schema]) => [
      name,
      readValueSchema(schema, `the value "${name}" of capability "${owner}"`),
    ]),
  );
}

async function execute(held: Held, input: StepInput, context: ToolContext): Promise<string> {
  const values = await readRequired(held, input, context);
  const given = await held.capability.options.execute(values, contextFor(input, context));
  const provided = await readProvided(held, given, context.fail);
  // As a text, for a result that is no text may be written with notes in it.
  return JSON.stringify(provided);
}

async function askVerify(
  held: Held,
  input: StepInput,
  context: ToolContext,
): Promise<{ readonly happened: true; readonly result?: string } | { readonly happened: false | 'unknown' }> {
  const values = await readRequired(held, input, context);
  const found = await held.capability.options.verify?.(values, contextFor(input, context));
  if (found === undefined || found.happened !== true) return { happened: found?.happened ?? 'unknown' };
  if (found.result === undefined && held.provides.size > 0) return { happened: true };
  return {
    happened: true,
    result: JSON.stringify(await readProvided(held, found.result, context.fail)),
  };
}

/** Everything of the tool's context, which makes the dearest of it only where it is asked for, and what the step is for. */
function contextFor({ task, objective }: StepInput, context: ToolContext): CapabilityContext {
  const descriptors = {
    ...Object.getOwnPropertyDescriptors(context),
    task: { value: task, enumerable: true },
    objective: { value: objective, enumerable: true },
  };
  return Object.defineProperties({}, descriptors) as CapabilityContext; // Built member by member.
}

async function readRequired(
  { capability, requires }: Held,
  { values }: StepInput,
  { fail }: Pick<ToolContext, 'fail'>,
): Promise<ParsedValues<Values>> {
  const read: [string, unknown][] = [];
  for (const [name, schema] of requires) {
    const details: FailDetails = {
      code: 'VALIDATION_ERROR',
      retryable: false,
      sideEffect: 'none',
      hint: `Bind "${name}" to a step that provides a value that fits.`,
      context: { severity: 'replanning', capability: capability.name, value: name },
    };
    const what = `capability "${capability.name}" requires the value "${name}"`;
    if (!Object.hasOwn(values, name)) return fail(`${what}, and it was not given`, details);
    const check = await schema.check(values[name]);
    if (check.type === 'invalid')
      return fail(`${what}, and it does not fit: ${told(check.issues)}`, {
        ...details,
        cause: thrownBy(check),
      });
    read.push([name, check.value]);
  }
  return Object.fromEntries(read) as ParsedValues<Values>; // Each came through its schema.
}

/** What it gave, value by value. What it gave besides is left out: it could not be referred to. */
async function readProvided(
  { capability, provides }: Held,
  given: unknown,
  fail: ToolContext['fail'],
): Promise<Readonly<Record<string, Json>>> {
  const read: [string, Json][] = [];
  const broken = (what: string, value: string, details: FailDetails): never =>
    fail(`capability "${capability.name}" promises to provide the value "${value}", ${what}`, {
      ...details,
      retryable: false,
      context: { severity: 'critical', capability: capability.name, value },
    });
  for (const [name, schema] of provides) {
    const value: unknown = isRecord(given) && Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined)
      return broken('and did not', name, { hint: `Return { ${name}: … } from "execute".` });
    const check = await schema.check(value);
    if (check.type === 'invalid')
      return broken(`and it does not fit: ${told(check.issues)}`, name, {
        hint: 'Fix "execute" or the schema.',
        cause: thrownBy(check),
      });
    const json = copyStrictJson(check.value);
    if (json === undefined) {
      const hint = 'Return texts, numbers, lists and plain objects: a Date as its ISO text, for example.';
      return broken('and it is no JSON, or has more than 200,000 members', name, { hint });
    }
    read.push([name, json]);
  }
  const provided = Object.fromEntries(read);
  checkLength(capability, provided, fail);
  return provided;
}

function checkLength(
  { name }: Capability,
  provided: Readonly<Record<string, Json>>,
  fail: ToolContext['fail'],
): void {
  const { length } = JSON.stringify(provided);
  if (length <= maxProvidedCharacters) return;
  const bound = maxProvidedCharacters.toLocaleString('en-US');
  fail(
    `capability "${name}" provides ${length.toLocaleString('en-US')} characters, and at most ${bound} are kept`,
    {
      retryable: false,
      hint: 'Return a reference instead, such as a path, a URL or an id, and let the next step read it.',
      context: { severity: 'critical', capability: name, characters: length },
    },
  );
}

const maxTold = 5;

function told(issues: readonly SchemaIssue[]): string {
  if (issues.length === 0) return 'its schema refuses it';
  return issues
    .slice(0, maxTold)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
}

/** What the schema's own code threw. */
function thrownBy({ causes = [] }: InvalidInput): unknown {
  const [cause] = causes;
  return cause === undefined ? undefined : thrownOf(cause)?.thrown;
}

/** What the capability says, as a tool says it. Code without types may say anything: what is no verdict is passed as it is. */
function verdictOf(said: unknown): ErrorVerdict | undefined {
  if (!isRecord(said) || typeof said['then'] === 'function') return said as undefined; // The runtime looks at it.
  const { severity, metadata, ...rest } = said;
  const known = severities.find((one) => one === severity);
  const context: Record<string, Json> = {};
  if (known !== undefined) context['severity'] = known;
  else if (severity !== undefined) context['unknownSeverity'] = showValue(severity);
  if (isRecord(metadata)) context['metadata'] = metadata as Readonly<Record<string, Json>>; // Bounded and redacted where the failure is made.
  return { ...rest, ...defined({ retryable: retryableOf(known) }), context };
}

/** The severity says whether the same attempt may succeed later; without one the code does. */
function retryableOf(severity: Severity | undefined): boolean | undefined {
  return severity === undefined ? undefined : severity === 'retriable';
}
