import { isSecretName } from '../base/redact-names.ts';
import { configError } from './config-error.ts';

const maxHeaders = 64;
const maxValueCharacters = 16_384;

/**
 * The user's own headers, names in lower case so that they win over ours however they are written. Throws where one cannot
 * be sent; the message names the header and never shows its value, which may be a key.
 */
export function readHeaders(
  headers: Readonly<Record<string, string | undefined>> | undefined,
): Readonly<Record<string, string>> {
  const entries = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  if (entries.length > maxHeaders) {
    throw configError(`The option "headers" has ${entries.length} headers: hand in at most ${maxHeaders}`);
  }
  for (const [name, value] of entries) {
    const fault = findHeaderFault(name, value);
    if (fault !== undefined) throw configError(fault);
  }
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

/** The values of headers that are credentials, without the word before them. */
export function secretsIn(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    isSecretName(name) ? [value.replace(/^(?:Bearer|Basic) /i, '')] : [],
  );
}

/** The transport sets these itself; anybody else's would break the request. */
const ownedByTransport: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function findHeaderFault(name: string, value: unknown): string | undefined {
  const shown = JSON.stringify(name.slice(0, 100));
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    return `The header ${shown} has a character in its name that HTTP does not allow: use letters, digits and "-"`;
  }
  if (ownedByTransport.has(name.toLowerCase())) {
    return `The header ${shown} is set by Rerail itself: leave it out of "headers"`;
  }
  if (typeof value !== 'string')
    return `The header ${shown} must be a text, got ${typeof value}: write it in quotes`;
  if (/[\r\n]/.test(value)) {
    return `The header ${shown} has a line break in its value: remove it, for example with trim()`;
  }
  // HTTP carries bytes: what is not Latin-1 cannot be sent, and control characters cut the message.
  if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) {
    return `The header ${shown} has a character in its value that cannot be sent: use plain ASCII`;
  }
  return value.length > maxValueCharacters
    ? `The header ${shown} is longer than ${maxValueCharacters} characters: shorten it`
    : undefined;
}
