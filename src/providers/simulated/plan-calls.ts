import type { ToolDefinition } from '../../model/request.ts';
import { chooseTool } from './choose-tool.ts';
import { fillArguments } from './fill-arguments.ts';
import type { Source } from './fill-arguments.ts';
import { quotedIn } from './find-values.ts';
import type { MindCall } from './mind-answer.ts';

/** A tool that a person asked for, with what is known of its arguments. */
export interface Wish extends MindCall {
  /** How clearly it was asked for. */
  readonly score: number;
  /** Required arguments that nobody has told. */
  readonly missing: readonly string[];
}

/** Wishes that do not depend on each other, and may be granted at the same time. */
export type Stage = readonly Wish[];

const maxStages = 8;
const maxFragments = 20;

const stageBreak = /\s*,?\s*(?:\band\s+)?(?:\bthen\b|\bafter that\b|\bafterwards\b)[,:]?\s*/gi;
const fragmentBreak = /\s*(?:,\s*and\b|\band\s+also\b|\band\b|[,;]|\balso\b|[.?!]+\s)\s*/gi;

/** Reads from a sentence which tools are wanted: side by side for `a and b`, one after the other for `a, then b`. */
export function planCalls(
  tools: readonly ToolDefinition[],
  source: Omit<Source, 'clause'>,
): readonly Stage[] {
  if (tools.length === 0) return [];
  return splitText(source.text, stageBreak)
    .slice(0, maxStages)
    .map((stage) => wishesIn(stage, tools, source))
    .filter((stage) => stage.length > 0);
}

interface Clause {
  readonly tool: ToolDefinition;
  readonly score: number;
  readonly clause: string;
}

function wishesIn(stage: string, tools: readonly ToolDefinition[], source: Omit<Source, 'clause'>): Stage {
  const clauses: Clause[] = [];
  for (const fragment of splitText(stage, fragmentBreak).slice(0, maxFragments)) {
    const choice = chooseTool(fragment, tools);
    const previous = clauses.at(-1);
    if (choice !== undefined) clauses.push({ ...choice, clause: fragment });
    else if (previous !== undefined && isAnother(fragment, previous)) {
      clauses.push({ ...previous, clause: fragment });
    } else if (previous !== undefined) {
      clauses[clauses.length - 1] = { ...previous, clause: between(stage, previous.clause, fragment) };
    }
  }
  const whole = clauses.length === 0 ? chooseTool(stage, tools) : undefined;
  if (whole !== undefined) clauses.push({ ...whole, clause: stage });
  return clauses.map(({ tool, score, clause }) => {
    const filled = fillArguments(tool, { ...source, clause });
    return { name: tool.name, score, ...filled };
  });
}

/** Whether `in London` after `the weather in Paris` asks for the same tool once more. */
function isAnother(fragment: string, { tool }: Clause): boolean {
  if (fragment.split(/\s+/).length > 6) return false;
  const isTelling =
    /^(?:in|at|for|of|to|from|near)\s/i.test(fragment) ||
    /^["'`“]|^\p{Lu}|^#?-?\d|^\S*[/.]\S/u.test(fragment);
  if (!isTelling) return false;
  const alone = {
    clause: fragment,
    text: fragment,
    earlier: [],
    results: [],
    facts: new Map<string, string>(),
  };
  const filled = fillArguments(tool, alone);
  return filled.missing.length === 0 && Object.keys(filled.arguments).length > 0;
}

function between(text: string, first: string, last: string): string {
  const start = text.indexOf(first);
  const end = text.indexOf(last, start + first.length) + last.length;
  return text.slice(start, end);
}

/** Cuts a text at a pattern, but never inside quotation marks. */
function splitText(text: string, pattern: RegExp): readonly string[] {
  const masked = quotedIn(text).reduce(
    (rest, quoted) => rest.replace(quoted, () => '_'.repeat(quoted.length)),
    text,
  );
  const pieces: string[] = [];
  let start = 0;
  for (const found of masked.matchAll(pattern)) {
    pieces.push(text.slice(start, found.index));
    start = found.index + found[0].length;
  }
  pieces.push(text.slice(start));
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '');
}
