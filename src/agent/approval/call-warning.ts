import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { lookAlikesIn } from '../../base/look-alikes.ts';

/** What a person who decides about a call must not overlook: letters that are drawn like others, and what is drawn as nothing. */
export function callWarning(name: string, input: Json): string | undefined {
  const found = new Set<string>();
  const invisible = new Set<string>();
  const look = (text: string): void => {
    for (const letter of lookAlikesIn(text)) found.add(letter);
    for (const [letter] of text.matchAll(unseen)) invisible.add(letter);
  };
  look(name);
  visit(input, look);
  const parts = [
    ...(found.size === 0 ? [] : [`letters that are drawn like others (${codePoints(found)})`]),
    ...(invisible.size === 0 ? [] : [`characters that are not drawn (${codePoints(invisible)})`]),
  ];
  return parts.length === 0 ? undefined : `The arguments hold ${parts.join(', and ')}`;
}

/** Reading direction, zero width, soft hyphens, and controls other than tabs and line breaks. */
const unseen = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

const maxNamed = 10;

function codePoints(letters: ReadonlySet<string>): string {
  const named = [...letters].slice(0, maxNamed);
  return named
    .map((letter) => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join(', ');
}

/** Arguments were read within bounds, so that this ends. */
function visit(value: Json, look: (text: string) => void): void {
  if (typeof value === 'string') return look(value);
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) visit(item, look); // `isArray` does not narrow readonly lists.
    return;
  }
  if (!isRecord(value)) return;
  for (const [name, member] of Object.entries(value)) {
    look(name);
    visit(member, look);
  }
}
