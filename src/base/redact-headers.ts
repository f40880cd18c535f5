import { isMark, isWordStart, mark, markSource } from './redact-marks.ts';
import { isNoSecret, looksMachineMade } from './redact-shapes.ts';
import { readQuoted, readUnquoted, replaceSpans } from './redact-values.ts';
import type { Span } from './redact-values.ts';

/**
 * Hides the header value in the sentences by which HTTP libraries refuse one. They quote it whole, line break included:
 * `Headers.append: "Bearer sk-…↵…" is an invalid header value.` (Node), `Illegal header value b'Bearer …'` (httpx),
 * `Invalid header value b'…\n'` (http.client), `net/http: invalid header field value "…"` (Go).
 */
export function redactRefusedHeaders(text: string): string {
  if (!text.includes('eader')) return text;
  const spans: Span[] = [];
  refusal.lastIndex = 0;
  for (let hit = refusal.exec(text); hit !== null; hit = refusal.exec(text)) {
    const at = refusal.lastIndex;
    const span = hit[1] === undefined ? readQuoted(text, at) : readRefused(text, at);
    if (span === undefined) continue;
    refusal.lastIndex = span.end;
    if (span.end > span.start && !isMark(text.slice(span.start, span.end))) spans.push(span);
  }
  return replaceSpans(text, spans, mark);
}

const refusal =
  /(Headers\.(?:append|set): \\{0,4}")|(?:illegal|invalid) header (?:field )?value:? (?=[bru]?\\{0,4}["'])/gi;
const refusalEnd = /\\{0,4}" is an invalid header/g;

/** The value may hold quotes itself, so only the rest of the sentence ends it, or the end of a text that was cut. */
function readRefused(text: string, start: number): Span {
  refusalEnd.lastIndex = start;
  return { start, end: refusalEnd.exec(text)?.index ?? text.length };
}

/** Hides what follows the name of an authentication scheme, wherever it stands; keeps `Bearer token` and other prose. */
export function redactSchemes(text: string): string {
  const spans: Span[] = [];
  scheme.lastIndex = 0;
  for (let hit = scheme.exec(text); hit !== null; hit = scheme.exec(text)) {
    const at = scheme.lastIndex;
    if (!isWordStart(text, hit.index)) continue;
    const isSimple = hit[1] !== undefined;
    const span = isSimple ? (readQuoted(text, at) ?? readUnquoted(text, at)) : readParameters(text, at);
    if (isSimple && !isCredential(text.slice(span.start, span.end), hit[1] ?? '')) continue;
    scheme.lastIndex = span.end;
    spans.push(span);
  }
  return replaceSpans(text, spans, mark);
}

const scheme =
  /(?:(bearer|basic|dpop)(?:[ \t]{1,4}|%20|\+)|(?:digest|aws4-hmac-sha256|hawk|oauth|signature)[ \t]{1,4}(?=[\w-]{1,40}=))/gi;

function isCredential(value: string, name: string): boolean {
  if (isNoSecret(value) || /^[a-z_]{2,20}=/.test(value)) return false; // `Bearer realm="…"` asks for a credential.
  if (looksMachineMade(value) || /[\w-]={1,2}$/.test(value)) return true;
  return name.toLowerCase() === 'basic' ? isEncodedPair(value) : value.length >= 8 && /\d/.test(value);
}

/** Whether it is the base64 of `name:password`, which may be letters only. */
function isEncodedPair(value: string): boolean {
  try {
    return /^[\u0020-\u007e]*:[\u0020-\u007e]*$/.test(atob(value));
  } catch {
    return false; // `atob` refuses what is not base64, and that is the answer.
  }
}

const parameter = new RegExp(
  String.raw`[\w-]{1,40}=(?:\\{0,4}"[^"\r\n]*"?|[^\s,"'[]*(?:${markSource}[^\s,"'[]*)?)(?:,[ \t]{0,4}(?=[\w-]{1,40}=))?`,
  'y',
);

/** `username="…", nonce="…"`: one parameter after the other. */
function readParameters(text: string, start: number): Span {
  let end = start;
  parameter.lastIndex = start;
  while (parameter.test(text)) end = parameter.lastIndex;
  return { start, end };
}
