import type { Json } from './json.ts';
import { redactPrivateKeys } from './redact-blocks.ts';
import { redactFormats } from './redact-formats.ts';
import { redactRefusedHeaders, redactSchemes } from './redact-headers.ts';
import { redactLabelled } from './redact-labels.ts';
import { isMark, mark } from './redact-marks.ts';
import { isHeaderName, isSecretName } from './redact-names.ts';
import { redactRegistered } from './redact-registered.ts';
import { redactUrlCredentials } from './redact-urls.ts';

export { registerSecret } from './redact-registered.ts';

// Invariants: no input makes these functions throw; their time is linear in its length; redacting twice changes nothing;
// what was hidden leaves no part of itself behind. `docs/decisions/redaction.md` lists what they do not see.

/** In practice the second round finds nothing; the bound holds whatever the marks of one pass may do to another. */
const maxRounds = 4;

/** Replaces every secret in a text by a mark such as `[redacted anthropic key]`. */
export function redact(text: string): string {
  try {
    let current = text;
    for (let round = 0; round < maxRounds; round += 1) {
      const next = passes.reduce((result, pass) => pass(result), current);
      if (next === current) return next;
      current = next;
    }
    return current;
  } catch {
    // The engine gave up, for want of memory or of room for a longer text. What could not be checked is not shown.
    return mark;
  }
}

/** Each takes and returns the whole text. Exact knowledge goes first, so that its marks say more than `[redacted]`. */
const passes: readonly ((text: string) => string)[] = [
  redactRegistered,
  redactPrivateKeys,
  redactRefusedHeaders,
  redactUrlCredentials,
  redactFormats,
  redactSchemes,
  redactLabelled,
];

const maxDepth = 64;
const maxNodes = 200_000;

/** What stands for a part of a value that lies deeper, or beyond more members, than is looked at. */
const leftOut = '[left out]';

/**
 * Redacts every text in a value, names included, and hides whatever stands under a name that says it is secret. The shape
 * stays, down to 64 levels and 200,000 members; the rest is left out.
 *
 * @example redactJson({ apiKey: 'hunter-22', max_tokens: 5 }); // { apiKey: '[redacted]', max_tokens: 5 }
 */
export function redactJson(value: Json): Json {
  return redactNode(value, { depth: 0, isSecret: false, budget: { nodes: maxNodes } });
}

interface Place {
  readonly depth: number;
  /** Something above is a secret, and so is everything below it. */
  readonly isSecret: boolean;
  /** Counted down over the whole value. */
  readonly budget: { nodes: number };
}

function redactNode(value: Json, place: Place): Json {
  if (typeof value === 'string') return redactText(value, place.isSecret);
  if (typeof value === 'number') return place.isSecret ? mark : value;
  // Whether a secret is there, `true` or `null`, is worth knowing and gives nothing away.
  if (typeof value !== 'object' || value === null) return value;
  if (place.depth >= maxDepth) return leftOut;
  const below: Place = { ...place, depth: place.depth + 1 };
  return isList(value) ? redactList(value, below) : redactRecord(value, below);
}

function redactText(text: string, isSecret: boolean): string {
  return isSecret ? hide(text) : redact(text);
}

/** An empty text stays, for an empty key is a common fault; a text that is nothing but a known key keeps its kind. */
function hide(text: string): string {
  const redacted = redact(text);
  return text === '' || isMark(redacted) ? redacted : mark;
}

/** `Array.isArray` does not narrow readonly lists. */
function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

function redactList(list: readonly Json[], place: Place): Json {
  const result: Json[] = [];
  for (const [index, member] of list.entries()) {
    if (!take(place.budget)) return [...result, leftOut];
    // Raw headers are a list in which names and values take turns.
    const before = list[index - 1];
    const isHeader = typeof before === 'string' && typeof member === 'string' && isHeaderName(before);
    result.push(redactNode(member, isHeader ? { ...place, isSecret: true } : place));
  }
  return result;
}

function redactRecord(record: Readonly<Record<string, Json>>, place: Place): Json {
  const result = new Map<string, Json>();
  // `{ name: 'authorization', value: '…' }` is how archives and traces write headers and attributes.
  const title = record['name'] ?? record['key'];
  const isSecretEntry = typeof title === 'string' && isSecretName(title);
  for (const [name, member] of Object.entries(record)) {
    if (!take(place.budget)) {
      result.set(leftOut, leftOut);
      break;
    }
    const safeName = redact(name);
    const isSecret = place.isSecret || isSecretName(safeName) || (isSecretEntry && name === 'value');
    // Two names that are secrets get the same mark, and neither member may vanish.
    const key = safeName !== name && result.has(safeName) ? `${safeName} ${result.size}` : safeName;
    result.set(
      key,
      typeof member === 'string' ? redactText(member, isSecret) : redactNode(member, { ...place, isSecret }),
    );
  }
  return Object.fromEntries(result);
}

function take(budget: { nodes: number }): boolean {
  budget.nodes -= 1;
  return budget.nodes >= 0;
}
