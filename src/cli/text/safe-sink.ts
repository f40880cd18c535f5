import type { TextSink } from '../start/io.ts';

// The last line of defence: each text from outside is made printable where it is laid out (`base/printable.ts`), and what was
// forgotten there is caught here. Only what this program itself writes to a terminal may pass: line breaks, tabs, the colours of
// `paint.ts` and `view-paint.ts`, and the line that `doctor` clears. The live screen has a terminal of its own.

const escape = '\u001b';
const own = String.raw`\r${escape}\[K|${escape}\[(?:0|1|2|3|31|32|36|38;5;178)m`;
/** Controls, and what turns the reading direction or begins a line. */
const obeyed = String.raw`(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]`;
const either = new RegExp(`(${own})|${obeyed}`, 'gu');

/** A sink through which nothing passes that a terminal would obey, besides what is ours. */
export function safeSink(sink: TextSink): TextSink {
  return {
    write: (text) =>
      sink.write(text.replaceAll(either, (found, ours: string | undefined) => ours ?? markOf(found))),
  };
}

function markOf(character: string): string {
  return `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`;
}
