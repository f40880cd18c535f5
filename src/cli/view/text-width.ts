import stringWidth from 'string-width';

const ascii = /^[ -~]*$/;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** How many columns a text takes on a terminal. Escape sequences have none. */
export function columnsOf(text: string): number {
  return ascii.test(text) ? text.length : stringWidth(text);
}

/** What a person takes for one character each. */
export function graphemesOf(text: string): readonly string[] {
  return ascii.test(text) ? text.split('') : Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The text where it fits, else as much of it as fits with a mark at its end. The text must carry no escape sequences. */
export function fitColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  if (columns < 1) return '';
  const [head = ''] = cutColumns(text, columns - 1);
  return `${columns === 1 ? '' : head}…`;
}

/** Pieces of at most so many columns. A character that is wider than that stands alone. */
export function cutColumns(text: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  let current = '';
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    const more = columnsOf(grapheme);
    if (width + more > columns && current !== '') {
      pieces.push(current);
      current = '';
      width = 0;
    }
    current += grapheme;
    width += more;
  }
  return current === '' && pieces.length > 0 ? pieces : [...pieces, current];
}
