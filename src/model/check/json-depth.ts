/** Deeper than any intended value, and far less than what overflows the stack of the code that walks the value. */
export const maxJsonDepth = 1000;

const quote = 34;
const backslash = 92;
const openBracket = 91;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/**
 * Whether lists and objects in a text of JSON nest deeper than `maxJsonDepth`. Asked before the text is parsed: engines differ
 * in what they make of such a value (some write it, some overflow), and all of them take seconds for millions of levels.
 */
export function nestsTooDeeply(text: string): boolean {
  if (text.length <= maxJsonDepth) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === quote) index = stringEnd(text, index);
    else if (unit === openBracket || unit === openBrace) depth += 1;
    else if (unit === closeBracket || unit === closeBrace) depth -= 1;
    if (depth > maxJsonDepth) return true;
  }
  return false;
}

/** Where the string that begins here ends. One that never does takes the rest of the text. */
function stringEnd(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== quote) {
    index += text.charCodeAt(index) === backslash ? 2 : 1;
  }
  return index;
}
