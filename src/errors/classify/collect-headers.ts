import { isList, readEntries, readProperty } from './safe-read.ts';

const maxHeaders = 1000;
const maxHeaderLength = 500;
const maxNameLength = 100;

/** Only what the classifier reads is copied; whatever else headers carry, cookies and keys among it, stays where it is. */
const relevant: ReadonlySet<string> = new Set([
  'cf-ray',
  'content-type',
  'date',
  'retry-after',
  'retry-after-ms',
  'x-amzn-errortype',
  'x-ms-retry-after-ms',
  'x-retry-after',
]);

function isRelevant(name: string): boolean {
  if (relevant.has(name) || name.startsWith('x-codex-')) return true;
  return (
    name.includes('ratelimit') ||
    name.includes('rate-limit') ||
    name.endsWith('request-id') ||
    name.endsWith('requestid')
  );
}

/** Copies headers of any shape (record, `Headers`, list of pairs) in lower case. Two values are joined by a comma. */
export function collectHeaders(target: Record<string, string>, headers: unknown): void {
  for (const [name, value] of headerEntries(headers)) {
    if (typeof name !== 'string' || name.length > maxNameLength) continue;
    const key = name.toLowerCase();
    if (!isRelevant(key)) continue;
    if (Object.hasOwn(target, key)) continue;
    const text = headerText(value);
    if (text !== undefined) Object.defineProperty(target, key, { value: text, enumerable: true });
  }
}

function headerEntries(headers: unknown): readonly (readonly [unknown, unknown])[] {
  if (typeof readProperty(headers, 'entries') !== 'function') return readEntries(headers, maxHeaders);
  const pairs: (readonly [unknown, unknown])[] = [];
  try {
    for (const [name, value] of headers as Iterable<readonly [unknown, unknown]>) {
      pairs.push([name, value]);
      if (pairs.length >= maxHeaders) break;
    }
  } catch {
    // Headers that stop being readable are taken as far as they went.
  }
  return pairs;
}

function headerText(value: unknown): string | undefined {
  // A value of that length is no delay and no id; cut, it might be half a secret.
  if (typeof value === 'string') return value.length > maxHeaderLength ? undefined : value;
  if (typeof value === 'number') return String(value);
  if (!isList(value)) return undefined;
  const parts = readEntries(value, maxHeaders).map(([, part]) => part);
  return headerText(parts.filter((part) => typeof part === 'string').join(', '));
}
