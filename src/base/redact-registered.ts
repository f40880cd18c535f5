import { base64Cores, base64Pattern, encodedPattern } from './redact-encodings.ts';
import { knownMarks } from './redact-formats.ts';
import { createMatcher } from './redact-matcher.ts';
import type { Matcher, Needle } from './redact-matcher.ts';
import { mark } from './redact-marks.ts';
import { isCommonWord, isPlaceholder } from './redact-shapes.ts';

const minSecretCharacters = 8;
/** Longer than a service account file; nothing longer is taken for a secret. */
const maxSecretCharacters = 16_384;

/** What is looked for because of a secret, and how often it is registered: the first of two agents to end must not unmask it. */
interface Registration {
  readonly needles: readonly Needle[];
  count: number;
}

const registrations = new Map<string, Registration>();
let matcher: Matcher | undefined;

/**
 * Makes a value known at run time, such as a key from the environment, a secret wherever it appears; returns the undo.
 * Spaces and quotes around it are left out. These values are ignored, for hiding them would only blind the logs: shorter
 * than 8 characters or longer than 16,384; digits only and fewer than 16; common words such as `password` and
 * `localhost`; placeholders such as `your-api-key`. All others are held until they are undone, however many there are:
 * the caller who registers values without end must undo those that are no longer in use.
 */
export function registerSecret(value: string): () => void {
  const secret = withoutWrapping(value);
  if (isTooCommon(secret)) return () => undefined;
  const known = registrations.get(secret) ?? begin(secret);
  known.count += 1;
  let isRegistered = true;
  return () => {
    if (!isRegistered) return;
    isRegistered = false;
    known.count -= 1;
    if (known.count > 0) return;
    registrations.delete(secret);
    matcher?.remove(known.needles);
  };
}

function begin(secret: string): Registration {
  const made: Registration = { needles: needlesOf(secret), count: 0 };
  registrations.set(secret, made);
  matcher ??= createMatcher();
  matcher.add(made.needles);
  return made;
}

/** Replaces registered values, also written over several lines, escaped, URL-encoded or in base64. */
export function redactRegistered(text: string): string {
  if (matcher === undefined || registrations.size === 0) return text;
  const redacted = matcher.replace(text);
  // A long value is found in pieces.
  return redacted === text ? text : redacted.replaceAll(/(?:\[redacted\]){2,}/g, mark);
}

function withoutWrapping(value: string): string {
  const trimmed = value.trim();
  return /^(["'`])[\s\S]*\1$/.test(trimmed) ? trimmed.slice(1, -1).trim() : trimmed;
}

function isTooCommon(secret: string): boolean {
  if (secret.length < minSecretCharacters || secret.length > maxSecretCharacters) return true;
  if (/^\d{1,15}$/.test(secret) || isCommonWord(secret) || isPlaceholder(secret)) return true;
  return secret.includes(mark) || knownMarks.some((known) => known.includes(secret));
}

const minLineCharacters = 24;
const minCoreCharacters = 9;

function needlesOf(secret: string): readonly Needle[] {
  // A line of a private key gives it away as well, but `"type": "service_account",` is nothing to hide.
  const lines = /[\r\n]/.test(secret) ? secret.split(/[\r\n]+/).map((line) => line.trim()) : [];
  const longLines = lines.filter((line) => line.length >= minLineCharacters && /^[^\s-]\S*$/.test(line));
  const cores = base64Cores(secret).filter((core) => core.length >= minCoreCharacters);
  return [
    ...[secret, ...longLines]
      .flatMap(piecesOf)
      .map((text) => ({ text, pattern: () => encodedPattern(text) })),
    // The rest of the base64 text goes too: it holds the last bits of the secret.
    ...cores
      .flatMap(piecesOf)
      .map((text) => ({ text, pattern: () => `${base64Pattern(text)}[A-Za-z0-9+/_-]*={0,2}` })),
  ];
}

const maxPieceCharacters = 512;

/** Cuts a long text into pieces of equal length, so that a part of it is found where the rest was cut off. */
function piecesOf(text: string): readonly string[] {
  const characters = Array.from(text);
  const size = Math.ceil(characters.length / Math.ceil(characters.length / maxPieceCharacters));
  const pieceCount = Math.ceil(characters.length / size);
  return Array.from({ length: pieceCount }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}
