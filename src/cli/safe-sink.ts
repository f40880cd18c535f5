import type { TextSink } from './io.ts';

// The last line of defence: each text from outside is made printable where it is laid out (`base/printable.ts`), and what was
// forgotten there is caught here. Only what this program itself writes to a terminal may pass: line breaks, tabs, the colours of
// `paint.ts` and `view-paint.ts`, and the line that `doctor` clears. The live screen has a terminal of its own.

const own = /\r\u001b\[K|\u001b\[(?:0|1|2|3|31|32|36|38;5;178)m/;
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const either = new RegExp(`(${own.source})|${obeyed.source}`, 'g');

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
