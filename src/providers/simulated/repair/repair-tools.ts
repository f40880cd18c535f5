import { isRecord } from '../../../base/json.ts';
import type { Json } from '../../../base/json.ts';
import type { ToolDefinition } from '../../../model/request.ts';
import type { MindCall } from '../mind-answer.ts';
import { asSchema } from '../schema-shape.ts';

/** The tools that it takes to mend a program, by what they do, whatever their fields are called. */
export interface RepairTools {
  /** `timeoutMs` is obeyed where the tool knows such a thing. */
  readonly shell: (command: string, timeoutMs?: number) => MindCall;
  readonly read: (path: string) => MindCall;
  readonly edit: (change: TextChange) => MindCall;
  readonly list: (() => MindCall) | undefined;
  readonly names: {
    readonly shell: string;
    readonly read: string;
    readonly edit: string;
    readonly list: string;
  };
  /** What an earlier call was about. */
  readonly commandOf: (given: Given) => string;
  readonly pathOf: (given: Given) => string;
  readonly changeOf: (given: Given) => TextChange;
}

/** One text in a file, replaced by another. */
export interface TextChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

type Given = Readonly<Record<string, Json>>;

const fieldNames = {
  command: ['command', 'cmd', 'script'],
  path: ['path', 'file', 'filePath', 'file_path', 'filename'],
  before: ['oldText', 'old_text', 'oldString', 'old_string', 'old', 'find', 'search', 'before'],
  after: ['newText', 'new_text', 'newString', 'new_string', 'new', 'replace', 'replacement', 'after'],
} as const;

type Field = keyof typeof fieldNames;

/** Nothing where a command, a look or a change cannot be had. */
export function findRepairTools(tools: readonly ToolDefinition[]): RepairTools | undefined {
  const shell = findTool(tools, /^(?:shell|bash|terminal|exec|(?:run|execute)(?:_?(?:command|shell))?)$/i, {
    wanted: ['command'],
  });
  const read = findTool(tools, /^(?:read|view|open|cat)(?:_?file)?$/i, { wanted: ['path'] });
  const edit =
    findTool(tools, editNames, { wanted: ['path', 'before', 'after'] }) ??
    findTool(tools, editNames, { wanted: ['path'], inList: ['before', 'after'] });
  if (shell === undefined || read === undefined || edit === undefined) return undefined;
  const list = tools.find(({ name }) => /^(?:list_?files|glob(?:_?files)?|list)$/i.test(name));
  return {
    shell: (command, timeoutMs) => ({
      name: shell.name,
      arguments: {
        ...write(shell, { command }),
        ...(timeoutMs !== undefined && knows(tools, shell.name, 'timeoutMs') ? { timeoutMs } : {}),
      },
    }),
    read: (path) => ({ name: read.name, arguments: write(read, { path }) }),
    edit: ({ path, before, after }) => ({
      name: edit.name,
      arguments: hasList(edit)
        ? { ...write(edit, { path }), [edit.list]: [write(edit, { before, after })] }
        : write(edit, { path, before, after }),
    }),
    list: list === undefined || hasRequired(list) ? undefined : () => ({ name: list.name, arguments: {} }),
    names: { shell: shell.name, read: read.name, edit: edit.name, list: list?.name ?? '' },
    commandOf: (given) => field(shell, 'command', given),
    pathOf: (given) => field(read, 'path', given),
    changeOf: (given) => {
      const change = hasList(edit) ? firstOf(given[edit.list]) : given;
      return {
        path: field(edit, 'path', given),
        before: field(edit, 'before', change),
        after: field(edit, 'after', change),
      };
    },
  };
}

const editNames = /^(?:edit|replace|str_?replace|patch)(?:_?(?:file|in_?file|text))?$/i;

interface Found {
  readonly name: string;
  readonly fields: Readonly<Partial<Record<Field, string>>>;
  /** Where the changes are a list: its name. */
  readonly list: string | undefined;
}

interface Wanted {
  readonly wanted: readonly Field[];
  readonly inList?: readonly Field[];
}

function findTool(
  tools: readonly ToolDefinition[],
  pattern: RegExp,
  { wanted, inList = [] }: Wanted,
): Found | undefined {
  for (const { name, parameters } of tools) {
    if (!pattern.test(name)) continue;
    const properties = asSchema(asSchema(parameters)['properties']);
    const list = inList.length === 0 ? undefined : listIn(properties);
    const items =
      list === undefined ? {} : asSchema(asSchema(asSchema(properties[list])['items'])['properties']);
    const fields = [...namesOf(properties, wanted), ...namesOf(items, inList)];
    if (fields.every(([, known]) => known !== undefined))
      return { name, fields: Object.fromEntries(fields), list };
  }
  return undefined;
}

function namesOf(
  properties: Readonly<Record<string, unknown>>,
  wanted: readonly Field[],
): readonly (readonly [Field, string | undefined])[] {
  return wanted.map((wish) => [wish, fieldNames[wish].find((known) => Object.hasOwn(properties, known))]);
}

function listIn(properties: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(properties).find((name) => asSchema(properties[name])['type'] === 'array');
}

function hasList(found: Found): found is Found & { readonly list: string } {
  return found.list !== undefined;
}

function write({ fields }: Found, values: Partial<Record<Field, string>>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(values).map(([wish, value]) => [fields[wish as Field] ?? wish, value]),
  );
}

function field({ fields }: Found, wish: Field, given: Given): string {
  return textOr(given[fields[wish] ?? wish]);
}

function firstOf(list: Json | undefined): Given {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isRecord(first) ? (first as Given) : {}; // It came out of JSON.
}

function knows(tools: readonly ToolDefinition[], name: string, property: string): boolean {
  const tool = tools.find((other) => other.name === name);
  return Object.hasOwn(asSchema(asSchema(tool?.parameters)['properties']), property);
}

function hasRequired({ parameters }: ToolDefinition): boolean {
  const required = isRecord(parameters) ? parameters['required'] : undefined;
  return Array.isArray(required) && required.length > 0;
}

function textOr(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
