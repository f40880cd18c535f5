import type { Json } from '../../base/json.ts';
import type { ToolDefinition } from '../../model/request.ts';
import { chooseTool } from './choose-tool.ts';
import type { PastCall } from './conversation.ts';
import { fillArguments } from './fill-arguments.ts';
import type { Source } from './fill-arguments.ts';
import type { MindCall } from './mind-answer.ts';
import { stemsOf } from './words.ts';

interface Correction {
  readonly tools: readonly ToolDefinition[];
  readonly source: Source;
}

/** A wish was refused, or nobody knows what happened: trying again would be wrong. */
const final =
  /\b(?:denied|rejected|refused|not allowed|forbidden|permission|unknown outcome|outcome is unknown|may have)\b/i;
const passing = /\b(?:try again|retry|temporar\w*|timed out|timeout|busy|overloaded|unavailable)\b/i;

/** The call that a tool's error asks for, where its words say what to change; nothing where they do not. */
export function correctCall(failed: PastCall, { tools, source }: Correction): MindCall | undefined {
  const error = failed.result?.text ?? '';
  if (final.test(error)) return undefined;
  const tool = tools.find(({ name }) => name === failed.name);
  if (tool === undefined) return otherTool(failed, { tools, source });
  const changed = changeArguments(failed, tool, source);
  if (changed !== undefined) return { name: failed.name, arguments: changed };
  return passing.test(error) ? { name: failed.name, arguments: failed.arguments } : undefined;
}

function otherTool(failed: PastCall, { tools, source }: Correction): MindCall | undefined {
  const choice = chooseTool(source.text, tools) ?? chooseTool(failed.name, tools);
  if (choice === undefined) return undefined;
  const filled = fillArguments(choice.tool, source);
  return filled.missing.length > 0 ? undefined : { name: choice.tool.name, arguments: filled.arguments };
}

type Arguments = Readonly<Record<string, Json>>;

function changeArguments(failed: PastCall, tool: ToolDefinition, source: Source): Arguments | undefined {
  const error = (failed.result?.text ?? '').slice(0, 2000);
  const named = Object.keys(failed.arguments).find((name) => mentions(error, name));
  for (const mend of [mendBound, mendChoice, mendMeaning, mendType]) {
    const change = mend(error, { name: named, arguments: failed.arguments, source });
    if (change !== undefined) return { ...failed.arguments, ...change };
  }
  // Something is missing, or the first reading was wrong: read the sentence again, with the error as a further hint.
  if (!/\b(?:required|missing)\b/i.test(error)) return undefined;
  const again = fillArguments(tool, { ...source, clause: source.text });
  const added = Object.entries(again.arguments).filter(([name]) => !Object.hasOwn(failed.arguments, name));
  return added.length === 0 ? undefined : { ...failed.arguments, ...Object.fromEntries(added) };
}

function mentions(error: string, name: string): boolean {
  return (
    name !== '' && new RegExp(String.raw`(?<![\p{L}\p{N}_])${escape(name)}(?![\p{L}\p{N}_])`, 'u').test(error)
  );
}

interface Mending {
  /** The argument that the error names. */
  readonly name: string | undefined;
  readonly arguments: Arguments;
  readonly source: Source;
}

/** "limit" must be at most 50, got 500 */
function mendBound(error: string, { name, arguments: given }: Mending): Arguments | undefined {
  const bound =
    /\b(at most|no more than|at least|no less than|less than or equal to|greater than or equal to|<=|>=|maximum(?: is| of)?|minimum(?: is| of)?):?\s*(-?\d+(?:\.\d+)?)/i.exec(
      error,
    );
  const field = name ?? Object.keys(given).find((key) => typeof given[key] === 'number');
  const current = field === undefined ? undefined : given[field];
  if (bound === null || field === undefined || typeof current !== 'number') return undefined;
  const value = Number(bound[2]);
  const isUpper = /most|more|less than or|<=|max/i.test(bound[1] ?? '');
  const isBroken = isUpper ? current > value : current < value;
  return isBroken ? { [field]: value } : undefined;
}

/** "unit" must be one of "celsius", "fahrenheit", got "C" */
function mendChoice(error: string, { name, arguments: given, source }: Mending): Arguments | undefined {
  const listed = /\bone of:?\s*\[?([^\n\]]{1,500})/i.exec(error)?.[1]?.replace(/,?\s*\bgot\b.*$/i, '');
  if (listed === undefined || name === undefined) return undefined;
  const options = listed
    .split(/\s*(?:,|\||\bor\b)\s*/)
    .map((option) => option.replaceAll(/^["'`\s]+|["'`.\s]+$/g, ''))
    .filter((option) => option !== '');
  const current = given[name];
  const begin = typeof current === 'string' ? current.toLowerCase().slice(0, 1) : '';
  const said = new Set(stemsOf(source.text));
  const chosen =
    options.find((option) => stemsOf(option).some((word) => said.has(word))) ??
    options.find((option) => begin !== '' && option.toLowerCase().startsWith(begin)) ??
    options[0];
  return chosen === undefined || chosen === current ? undefined : { [name]: chosen };
}

/** No such file "note.txt". Did you mean "notes.txt"? */
function mendMeaning(error: string, { name, arguments: given }: Mending): Arguments | undefined {
  const meant = /\bdid you mean:?\s*["'`“]?([^"'`”?\n]{1,200})/i.exec(error)?.[1]?.trim();
  const texts = Object.entries(given).flatMap(([key, value]) =>
    typeof value === 'string' ? [{ key, value }] : [],
  );
  const field = texts.find(({ value }) => error.includes(value))?.key ?? name ?? texts[0]?.key;
  return meant === undefined || field === undefined || given[field] === meant
    ? undefined
    : { [field]: meant };
}

/** "cents" must be a number, got "500" */
function mendType(error: string, { name, arguments: given }: Mending): Arguments | undefined {
  if (name === undefined) return undefined;
  const current = given[name];
  if (
    typeof current === 'string' &&
    /\b(?:number|integer)\b/i.test(error) &&
    Number.isFinite(Number.parseFloat(current))
  ) {
    return { [name]: Number.parseFloat(current) };
  }
  return typeof current === 'number' && /\bstring\b/i.test(error) ? { [name]: String(current) } : undefined;
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
}
