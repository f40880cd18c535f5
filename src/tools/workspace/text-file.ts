/** What the bytes of a file are: text with the marks that an edit must keep, or something that is not shown. */
export type FileContent =
  | {
      readonly type: 'text';
      /** Without the byte order mark. */
      readonly text: string;
      readonly hasByteOrderMark: boolean;
      /** Some bytes are no UTF-8; they stand as � in the text, which therefore cannot be written back. */
      readonly isDamaged: boolean;
    }
  | { readonly type: 'binary'; readonly says: string };

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/** Looks at what the bytes of a file are. Whatever holds a NUL is no text. */
export function readContent(bytes: Buffer): FileContent {
  if (isUtf16(bytes))
    return { type: 'binary', says: 'UTF-16 text, which is not shown; convert it to UTF-8 first' };
  if (bytes.includes(0)) return { type: 'binary', says: nameOfFormat(bytes) };
  const hasByteOrderMark = bytes.subarray(0, 3).equals(byteOrderMark);
  const body = hasByteOrderMark ? bytes.subarray(3) : bytes;
  try {
    return { type: 'text', text: strict.decode(body), hasByteOrderMark, isDamaged: false };
  } catch {
    // The decoder says no more than that there is such a byte, and that is what is told.
    return { type: 'text', text: lenient.decode(body), hasByteOrderMark, isDamaged: true };
  }
}

/** The bytes of a text, with the mark that the old file had. */
export function toBytes(text: string, { hasByteOrderMark }: { readonly hasByteOrderMark: boolean }): Buffer {
  const body = Buffer.from(text);
  return hasByteOrderMark ? Buffer.concat([byteOrderMark, body]) : body;
}

/** Lines without their ends. A line end at the end of the text begins no further line. */
export function splitLines(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  return text.endsWith('\n') ? lines.slice(0, -1) : lines;
}

/** The line end that most lines of a text have. */
export function lineEndOf(text: string): '\n' | '\r\n' {
  const windows = text.split('\r\n').length - 1;
  const all = text.split('\n').length - 1;
  return windows * 2 > all ? '\r\n' : '\n';
}

function isUtf16(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

function nameOfFormat(bytes: Buffer): string {
  const head = bytes.subarray(0, 8).toString('latin1');
  const known = formats.find(({ begin }) => head.startsWith(begin));
  return known === undefined ? 'a binary file' : known.says;
}

const formats = [
  { begin: '\u0089PNG', says: 'a PNG image' },
  { begin: '\u00ff\u00d8\u00ff', says: 'a JPEG image' },
  { begin: 'GIF8', says: 'a GIF image' },
  { begin: '%PDF', says: 'a PDF document' },
  { begin: 'PK\u0003\u0004', says: 'a ZIP archive (or an office document)' },
  { begin: '\u001f\u008b', says: 'a gzip archive' },
  { begin: '\u007fELF', says: 'an ELF program' },
  { begin: 'SQLite f', says: 'an SQLite database' },
  { begin: '\u0000asm', says: 'a WebAssembly module' },
] as const;
