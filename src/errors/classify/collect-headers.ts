import { isList, readEntries, readProperty } from './safe-read.ts';

const maxHeaders = 100;
const maxHeaderLength = 500;

/** Copies headers of any shape (record, `Headers`, list of pairs) in lower case. Two values are joined by a comma. */
export function collectHeaders(target: Record<string, string>, headers: unknown): void {
  for (const [name, value] of headerEntries(headers)) {
    if (typeof name !== 'string') continue;
    const key = name.toLowerCase().slice(0, maxHeaderLength);
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
  if (typeof value === 'string') return value.slice(0, maxHeaderLength);
  if (typeof value === 'number') return String(value);
  if (!isList(value)) return undefined;
  const parts = readEntries(value, maxHeaders).map(([, part]) => part);
  return parts
    .filter((part) => typeof part === 'string')
    .join(', ')
    .slice(0, maxHeaderLength);
}
