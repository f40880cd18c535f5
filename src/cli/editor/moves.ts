const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** So much of a text is looked at for the borders of one character. */
const maxLook = 1000;

/** Where the character before this place begins, as a person counts characters. */
export function previousGrapheme(text: string, cursor: number): number {
  const from = wholePlace(text, Math.max(0, cursor - maxLook));
  let last = from;
  for (const { index } of segmenter.segment(text.slice(from, cursor))) last = from + index;
  return last;
}

/** Where the character at this place ends. */
export function nextGrapheme(text: string, cursor: number): number {
  const to = wholePlace(text, Math.min(text.length, cursor + maxLook));
  for (const { segment } of segmenter.segment(text.slice(cursor, to))) return cursor + segment.length;
  return text.length;
}

/** The nearest place at or before this one that is not inside a character. */
export function wholePlace(text: string, place: number): number {
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit <= 0xdfff ? place - 1 : place;
}

const wordCharacter = /[\p{L}\p{N}\p{M}_]/u;

/** Where the word before this place begins; what stands between words is passed over. */
export function previousWord(text: string, cursor: number): number {
  const characters = Array.from(text.slice(0, cursor));
  let count = characters.length;
  const isWord = (): boolean => wordCharacter.test(characters[count - 1] ?? '');
  while (count > 0 && !isWord()) count -= 1;
  while (count > 0 && isWord()) count -= 1;
  return characters.slice(0, count).join('').length;
}

/** Where the word after this place ends. */
export function nextWord(text: string, cursor: number): number {
  const found = /^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor))?.[0] ?? '';
  return cursor + found.length;
}
