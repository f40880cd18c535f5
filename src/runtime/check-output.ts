import type { OutputCheck } from '../agent/turn/output.ts';
import { isPromiseLike } from '../base/promise-like.ts';
import { boundText } from '../base/text.ts';
import { maxJsonDepth, nestsTooDeeply } from '../model/check/json-depth.ts';
import type { InputCheck, SchemaIssue } from '../model/tool.ts';
import { findOnlyJson } from './model-call/find-json.ts';

/** What an answer is held to. Must not throw: what it objects to comes back as issues. */
export interface OutputSchema {
  readonly check: (value: unknown) => InputCheck | Promise<InputCheck>;
}

/** Longer than any answer of a model, and what a parser still reads in a moment. */
const maxOutputCharacters = 4_000_000;
const maxIssues = 10;
const maxPathCharacters = 120;
const maxMessageCharacters = 240;

/**
 * Reads an answer as JSON and holds it to its schema. What is repaired has one meaning only: a code fence, or words around
 * exactly one complete JSON value. An answer that was cut off is never completed.
 */
export function checkOutput(text: string, { check }: OutputSchema): OutputCheck | Promise<OutputCheck> {
  const read = readJson(text);
  if (read.type === 'invalid') return read;
  const checked = check(read.value);
  if (isPromiseLike(checked)) return checked.then((settled) => toOutputCheck(settled, read.isRepaired));
  return toOutputCheck(checked, read.isRepaired);
}

type Read =
  | { readonly type: 'read'; readonly value: unknown; readonly isRepaired: boolean }
  | { readonly type: 'invalid'; readonly problem: string };

function readJson(text: string): Read {
  if (text.length > maxOutputCharacters) {
    return invalid(`The answer has ${text.length} characters; at most ${maxOutputCharacters} are read.`);
  }
  const trimmed = text.trim();
  if (trimmed === '') return invalid('The answer is empty.');
  const whole = parse(trimmed);
  if (whole.type === 'read') return { ...whole, isRepaired: false };
  const found = findOnlyJson(trimmed);
  if (found === undefined) return whole;
  const part = parse(found);
  return part.type === 'read' ? { ...part, isRepaired: true } : part;
}

function parse(text: string): Read {
  if (nestsTooDeeply(text)) return invalid(`The answer nests more than ${maxJsonDepth} levels deep.`);
  try {
    return { type: 'read', value: JSON.parse(text) as unknown, isRepaired: false };
  } catch (error) {
    // JSON.parse throws nothing but SyntaxError, whose text names the place.
    const { message } = error as SyntaxError;
    return invalid(`The answer is not JSON: ${boundText(message, maxMessageCharacters)}`);
  }
}

function toOutputCheck(check: InputCheck, isRepaired: boolean): OutputCheck {
  if (check.type === 'invalid') {
    const { issues, causes } = check;
    return { ...invalid(describeIssues(issues)), ...(causes === undefined ? {} : { causes }) };
  }
  return isRepaired
    ? { type: 'valid', value: check.value, isRepaired: true }
    : { type: 'valid', value: check.value };
}

function invalid(problem: string): OutputCheck & { readonly type: 'invalid' } {
  return { type: 'invalid', problem };
}

function describeIssues(issues: readonly SchemaIssue[]): string {
  if (issues.length === 0) return 'The answer does not fit the schema.';
  const lines = issues.slice(0, maxIssues).map(({ path, message }) => {
    const place = path === '' ? 'the answer' : boundText(path, maxPathCharacters);
    return `${place}: ${boundText(message, maxMessageCharacters)}`;
  });
  const left = issues.length - lines.length;
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join('\n');
}
