/**
 * Breaks a text into lines of at most `width` columns: between words where it can, inside a word that is longer. Its own
 * line breaks stay, and the indent of a line is kept by its continuation lines.
 */
export function wrap(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, width));
}

/** How many columns a text takes: two for East Asian and emoji, none for a mark that sits on another character. */
export function displayWidth(text: string): number {
  let columns = 0;
  for (const character of text) columns += characterWidth(character);
  return columns;
}

function wrapLine(line: string, width: number): readonly string[] {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const room = Math.max(1, width - indent.length);
  const lines: string[] = [];
  let current = '';
  for (const word of line.trim().split(' ')) {
    const joined = current === '' ? word : `${current} ${word}`;
    if (displayWidth(joined) <= room) {
      current = joined;
      continue;
    }
    if (current !== '') lines.push(current);
    const pieces = cut(word, room);
    lines.push(...pieces.slice(0, -1));
    current = pieces.at(-1) ?? '';
  }
  return [...lines, current].map((part) => `${indent}${part}`);
}

function cut(word: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let current = '';
  let columns = 0;
  for (const character of word) {
    const more = characterWidth(character);
    if (columns + more > width && current !== '') {
      pieces.push(current);
      current = '';
      columns = 0;
    }
    current += character;
    columns += more;
  }
  return [...pieces, current];
}

const noWidth = /^\p{M}$/u;
const doubleWidth =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

function characterWidth(character: string): number {
  if (character < '\u0300') return 1; // Latin needs no look at the tables.
  if (noWidth.test(character)) return 0;
  return doubleWidth.test(character) ? 2 : 1;
}
