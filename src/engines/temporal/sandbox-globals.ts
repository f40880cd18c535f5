// Stand in the place of globals of Node that Temporal's sandbox does not have. They give the same, for what a workflow meets.

/** A copy of a value of a history, which is JSON. */
export function structuredClone(value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError('It cannot be copied');
  const text = JSON.stringify(value);
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 of a text whose units are bytes. */
export function btoa(text: string): string {
  let result = '';
  for (let index = 0; index < text.length; index += 3) {
    const bytes = [text.charCodeAt(index), text.charCodeAt(index + 1), text.charCodeAt(index + 2)];
    if (bytes.some((byte) => byte > 255)) throw new RangeError('Only bytes can be written as base64');
    const [first = 0, second = 0, third = 0] = bytes.map((byte) => (Number.isNaN(byte) ? 0 : byte));
    const group = (first << 16) | (second << 8) | third;
    const letters = Math.min(4, text.length - index + 1);
    for (let letter = 0; letter < 4; letter += 1)
      result += letter < letters ? (alphabet[(group >>> (18 - 6 * letter)) & 63] ?? '') : '=';
  }
  return result;
}

/** The text that base64 stands for. */
export function atob(encoded: string): string {
  const letters = encoded.replaceAll(/[\t\n\f\r ]/g, '').replace(/={1,2}$/, '');
  if (letters.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(letters)) throw new RangeError('This is no base64');
  let text = '';
  let [bits, held] = [0, 0];
  for (const letter of letters) {
    held = ((held << 6) | alphabet.indexOf(letter)) & 0xff_ff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    text += String.fromCharCode((held >>> bits) & 255);
  }
  return text;
}
