const cutNote = ' … (cut)';

/** Cuts a text to `maxLength` characters and marks the cut. Never cuts a surrogate pair in two. */
export function boundText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const keep = Math.max(0, maxLength - cutNote.length);
  const end = isHighSurrogate(text.charCodeAt(keep - 1)) ? keep - 1 : keep;
  return text.slice(0, end) + cutNote;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
