import { mark } from './redact-marks.ts';
import { looksMachineMade } from './redact-shapes.ts';
import { replaceSpans } from './redact-values.ts';
import type { Span } from './redact-values.ts';

/** Hides the password, and a name that is a token, in `scheme://name:password@host`. Queries are labels like others. */
export function redactUrlCredentials(text: string): string {
  const spans: Span[] = [];
  let start = text.indexOf('://');
  while (start !== -1) {
    const next = text.indexOf('://', start + 3);
    // The next address bounds the search, so that every character is looked at once.
    const span = credentialsIn(text, { start: start + 3, end: next === -1 ? text.length : next });
    if (span !== undefined) spans.push(span);
    start = next;
  }
  return replaceSpans(text, spans, mark);
}

const authority = /^[^\s"'`<>\\/?#]*/;
const wholeAddress = /^[^\s"'`<>\\]*/;
/** A name and a colon after which no port follows. */
const nameOnly = /^[^\s"'`<>\\/?#:@[]{0,256}:(?!\d{1,5}(?:[/?#\s"'`<>\\]|$))/;

function credentialsIn(text: string, { start, end }: Span): Span | undefined {
  const rest = text.slice(start, end);
  // A password may hold a slash that nobody encoded; where the host is followed by a port there is no password.
  const length =
    userinfoLength(rest, authority) ?? (nameOnly.test(rest) ? userinfoLength(rest, wholeAddress) : undefined);
  if (length === undefined) return undefined;
  const userinfo = rest.slice(0, length);
  const colon = userinfo.indexOf(':');
  const name = colon === -1 ? userinfo : userinfo.slice(0, colon);
  if (name !== mark && looksMachineMade(name)) return { start, end: start + length };
  if (colon === -1 || colon === length - 1 || userinfo.slice(colon + 1) === mark) return undefined;
  return { start: start + colon + 1, end: start + length };
}

/** How much stands before the last `@` of the part that `reader` reads. */
function userinfoLength(rest: string, reader: RegExp): number | undefined {
  const at = (reader.exec(rest)?.[0] ?? '').lastIndexOf('@');
  return at === -1 ? undefined : at;
}
