import { maxJsonDepth } from '../../model/check/json-depth.ts';

/**
 * The one JSON value in a text that says something around it: the content of a code fence that is the whole text, or the only
 * list or object among words. Nothing where there are several, for it is unknown which is meant, and nothing where a bracket
 * or a fence stays open, for then the text was cut off and what looks whole may be a piece.
 */
export function findOnlyJson(text: string): string | undefined {
  if (text.split(fence).length % 2 === 0) return undefined;
  const fenced = wholeFence.exec(text)?.[1];
  if (fenced !== undefined && !fenced.includes(fence)) return fenced.trim();
  return findOnlyValue(text);
}

const fence = '```';
const wholeFence = /^```[\w+.-]*[^\S\n]*\r?\n(.*)```$/su;
/** Words with more brackets than that are no answer with words around it. */
const maxCandidates = 100;

function findOnlyValue(text: string): string | undefined {
  let found: string | undefined;
  let candidates = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (!isOpening(text.charCodeAt(index))) continue;
    const end = closingOf(text, index);
    candidates += 1;
    if (end === undefined || candidates > maxCandidates) return undefined;
    const value = text.slice(index, end + 1);
    // What is balanced but no JSON, such as "[see above]" or "{name}", is words.
    if (isJson(value)) {
      if (found !== undefined) return undefined;
      found = value;
    }
    index = end;
  }
  return found;
}

const quote = 34;
const backslash = 92;

function isOpening(unit: number): boolean {
  return unit === 91 || unit === 123;
}

function isClosing(unit: number): boolean {
  return unit === 93 || unit === 125;
}

/** Where the bracket that opens here is closed. Nothing where it is not, or where it holds more levels than are read. */
function closingOf(text: string, start: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let index = start; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (isInString) {
      if (unit === backslash) index += 1;
      else if (unit === quote) isInString = false;
    } else if (unit === quote) isInString = true;
    else if (isOpening(unit)) depth += 1;
    else if (isClosing(unit)) depth -= 1;
    if (depth > maxJsonDepth) return undefined;
    if (depth === 0 && !isInString) return index;
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // Words in brackets.
  }
}
