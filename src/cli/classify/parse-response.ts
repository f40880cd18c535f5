import { isRecord } from '../../base/json.ts';
import { headerRecord } from './observation.ts';
import type { Observation } from './observation.ts';

/**
 * Reads what someone pasted: a raw HTTP response as `curl -i` or `curl -v` prints it, a case of the error corpus, a bare body, or an
 * SDK's error text. Never throws; whatever is none of the others is an error text. Empty where there is only blank space.
 */
export function parseResponse(pasted: string): Observation {
  const text = fromVerbose(pasted.replaceAll(/\r\n?/g, '\n').trim());
  if (text === '') return {};
  return parseRaw(text) ?? parseCase(text) ?? (isBody(text) ? { body: text } : { message: text });
}

/** What `curl -v` prints: `<` before each line of the head, `>` before the request, `*` before its own remarks. */
function fromVerbose(text: string): string {
  if (!/^< HTTP\//m.test(text)) return text;
  const lines = text.split('\n').filter((line) => !/^(?:[*>}{](?: |$))/.test(line));
  return lines
    .map((line) => line.replace(/^<(?: |$)/, ''))
    .join('\n')
    .trim();
}

function isBody(text: string): boolean {
  return /^(?:[{[<]|data:|event:)/.test(text);
}

/** More than any chain of proxies, redirects and interim answers that a client would follow. */
const maxBlocks = 50;

/** One answer may come with several heads: `100 Continue`, a proxy's `200`, redirects. The last one counts. */
function parseRaw(text: string): Observation | undefined {
  let found: Observation | undefined;
  let rest = text;
  for (let block = 0; block < maxBlocks; block += 1) {
    const status = readStatus(rest);
    if (status === undefined) break;
    const { headers, body } = splitBlock(rest);
    found = { status, headers, ...(body === '' ? {} : { body }) };
    rest = body;
  }
  return found;
}

const statusLine = /^HTTP\/\d(?:\.\d)? +([1-9]\d\d)(?: .*)?$/i;

function readStatus(text: string): number | undefined {
  const end = text.indexOf('\n');
  const match = statusLine.exec(end === -1 ? text : text.slice(0, end));
  return match === null ? undefined : Number(match[1]);
}

interface Block {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The head ends with a blank line, or, where the paste lost it, with the first line that can only be a body. */
function splitBlock(text: string): Block {
  const pairs: [name: string, value: string][] = [];
  let at = lineEnd(text, 0) + 1;
  while (at < text.length) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    if (line.trim() === '' || isBody(line)) break;
    addHeaderLine(pairs, line);
    at = end + 1;
  }
  return { headers: headerRecord(pairs), body: text.slice(at).trim() };
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** A line that begins with a space continues the header before it. A line that is no header is left out. */
function addHeaderLine(pairs: [name: string, value: string][], line: string): void {
  const previous = pairs.at(-1);
  if (/^[ \t]/.test(line)) {
    if (previous !== undefined) previous[1] = `${previous[1]} ${line.trim()}`;
    return;
  }
  const match = headerLine.exec(line);
  if (match !== null) pairs.push([match[1] ?? '', (match[2] ?? '').trim()]);
}

/** A header as it stands on a line. The name is a token of RFC 9110. */
export const headerLine = /^([\w!#$%&'*+.^`|~-]+)[ \t]*:(.*)$/;

/** The fields of a case in the error corpus, each with what it may be; `null` stands for absent. */
const caseFields = {
  provider: isText,
  model: isText,
  status: (value: unknown): boolean => Number.isInteger(value),
  headers: isRecord,
  body: isText,
  message: isText,
  errno: isText,
} as const satisfies Record<keyof Observation, (value: unknown) => boolean>;

/** A case names its provider beside at least one other field. An object with an `error` is a provider's own body. */
function parseCase(text: string): Observation | undefined {
  const value = parseRecord(text);
  if (value === undefined || Object.hasOwn(value, 'error') || typeof value['provider'] !== 'string')
    return undefined;
  const given = Object.entries(caseFields).filter(([field]) => (value[field] ?? null) !== null);
  if (given.length < 2 || !given.every(([field, isValid]) => isValid(value[field]))) return undefined;
  const fields = Object.fromEntries(given.map(([field]) => [field, value[field]]));
  const headers = isRecord(value['headers']) ? { headers: textHeaders(value['headers']) } : {};
  return { ...fields, ...headers }; // Each field has passed its check.
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // Cut JSON, several objects, a Python repr: it is a body, and the classifier reads those.
  }
}

function textHeaders(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return headerRecord(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : [],
    ),
  );
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
