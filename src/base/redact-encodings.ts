/**
 * The source of a pattern that finds `value` as it is, escaped as in JSON (once or twice) and encoded as in a URL (once
 * or twice), also mixed. A character with more than one form becomes a choice between forms, each of bounded length.
 */
export function encodedPattern(value: string): string {
  return Array.from(value.matchAll(/\r\n|\\+|[\s\S]/gu), ([piece]) => piecePattern(piece)).join('');
}

function piecePattern(piece: string): string {
  if (/^[\w~-]$/.test(piece)) return piece;
  if (/^[\r\n]/.test(piece)) return writtenLineBreak;
  if (piece.startsWith('\\'))
    return `(?:\\\\{${piece.length},${piece.length * 4}}|(?:%(?:25)?5[Cc]){${piece.length}})`;
  const codes = Array.from({ length: piece.length }, (_, index) => hexOf(piece.charCodeAt(index), 4));
  const raw = codes.map((code) => `\\u${code}`).join('');
  const written = codes.map((code) => String.raw`\\{1,4}u${anyCase(code)}`).join('');
  const encoded = Array.from(
    new TextEncoder().encode(piece),
    (byte) => `%(?:25)?${anyCase(hexOf(byte, 2))}`,
  ).join('');
  return String.raw`(?:\\{0,4}${piece === ' ' ? '[ +]' : raw}|${written}|${encoded})`;
}

const writtenLineBreak = String.raw`(?:[\r\n]{1,2}[ \t]{0,16}| |(?:\\{1,4}[rn]){1,2}|(?:%(?:25)?0[AaDd]){1,2})`;

function hexOf(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

function anyCase(hex: string): string {
  return hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/**
 * The characters that every base64 text which holds `value` must hold: one text for each of the three ways in which the
 * bytes before it, such as the `name:` of Basic authentication, can shift it.
 */
export function base64Cores(value: string): readonly string[] {
  const bytes = new TextEncoder().encode(value);
  return [0, 1, 2].map((shift) => {
    const shifted = '\0'.repeat(shift) + Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    // Characters at the ends that also hold bits of their neighbours are left out.
    return btoa(shifted).slice(Math.ceil((shift * 8) / 6), Math.floor((shifted.length * 8) / 6));
  });
}

/** The source of a pattern that finds a base64 text in either alphabet, also inside JSON or a URL. */
export function base64Pattern(core: string): string {
  return core.replaceAll(/[+/]/g, (character) =>
    character === '+' ? '(?:[+-]|%2[Bb])' : String.raw`(?:\\{0,4}/|_|%2[Ff])`,
  );
}
