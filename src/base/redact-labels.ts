import { findValues } from './redact-label-values.ts';
import type { Label } from './redact-label-values.ts';
import { mark } from './redact-marks.ts';
import { isSecretName } from './redact-names.ts';
import { replaceSpans } from './redact-values.ts';
import type { Span } from './redact-values.ts';

/**
 * Hides the values of names that say they hold a secret: headers, JSON, Python and shell, queries, YAML, flags, XML.
 * Where nothing but the name speaks for it, as in `token: expired`, the value must also look like a secret.
 */
export function redactLabelled(text: string): string {
  const spans: Span[] = [];
  let from = 0;
  for (let word = findWord(text, from); word !== undefined; word = findWord(text, from)) {
    from = word.end;
    if (!mayHaveValue(text, word)) continue;
    const label = labelOf(text, word);
    if (label === undefined) continue;
    for (const span of findValues(text, label)) {
      spans.push(span);
      from = span.end;
    }
  }
  return replaceSpans(text, spans, mark);
}

/** A mark is skipped, for the key in `[redacted api key]: …` is no label. */
const labelWord =
  /\[redacted(?: [a-z]{2,12}){0,3}\]|key|token|secret|passw|passphrase|passcode|pwd|credential|authorization|cookie|bearer|jwt|[-_]auth|[?&](?:sig|code|signature)=|-signature/gi;
const nameRest = /[\w-]{1,64}/y;
const maxNameCharacters = 64;

/** The next name in which one of the words stands; names are short, so a look back at their beginning is bounded. */
function findWord(text: string, from: number): Span | undefined {
  labelWord.lastIndex = from;
  const hit = labelWord.exec(text);
  if (hit === null) return undefined;
  const first = hit[0].charAt(0);
  if (first === '[') return { start: hit.index, end: labelWord.lastIndex };
  const at = first === '?' || first === '&' ? hit.index + 1 : hit.index;
  nameRest.lastIndex = at;
  nameRest.test(text);
  return {
    start: startOfName(text, { at, floor: Math.max(from, at - maxNameCharacters) }),
    end: nameRest.lastIndex,
  };
}

function startOfName(text: string, { at, floor }: { readonly at: number; readonly floor: number }): number {
  let start = at;
  while (start > floor && isNameCharacter(text.charCodeAt(start - 1))) start -= 1;
  // The letter of a written `\n` and the digits of `%22` are not part of the name.
  const before = text.charAt(start - 1);
  if (before === '\\' && /[nrt]/.test(text.charAt(start))) return Math.min(at, start + 1);
  return before === '%' ? Math.min(at, start + 2) : start;
}

/** Letters, digits, `_` and `-`, compared by code because every name is walked through. */
function isNameCharacter(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x2d;
}

// Looks back from the beginning of a name.
const afterUnexpected = /(?<=unexpected )/iy;
const afterKindOfKey = /(?<=((?:api|access|secret|private|auth|subscription)[ \t]))/iy;
const queryNames: ReadonlySet<string> = new Set(['key', 'sig', 'code', 'signature']);

const maySeparate = /[\\"'`\]:=>%&;,]|[ \t]{1,8}[:=]|[ \t]{1,8}provided/y;

/** A cheap look at what follows a name: most stand in prose. */
function mayHaveValue(text: string, { start, end }: Span): boolean {
  maySeparate.lastIndex = end;
  return maySeparate.test(text) || text.startsWith('--', start);
}

function labelOf(text: string, { start, end }: Span): Label | undefined {
  const written = text.slice(start, end);
  if (written.startsWith('[')) return undefined;
  afterUnexpected.lastIndex = start;
  if (afterUnexpected.test(text)) return undefined; // A parser's token: `Unexpected token: "}"`.
  if (isSecretName(written)) return { name: written, start, end, isQuery: false };
  const isInQuery = '?&'.includes(text.charAt(start - 1) || ' ');
  if (isInQuery && queryNames.has(written.toLowerCase())) return { name: written, start, end, isQuery: true };
  // "API key" in a sentence is a name of two words.
  afterKindOfKey.lastIndex = start;
  const kind = /^keys?$/i.test(written) ? afterKindOfKey.exec(text)?.[1] : undefined;
  return kind === undefined
    ? undefined
    : { name: kind + written, start: start - kind.length, end, isQuery: false };
}
