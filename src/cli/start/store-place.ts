import { nameOf } from '../../storage/postgres/check-options.ts';
import { shellWord } from '../run-reading/run-words.ts';

// A place is what `--store`, RERAIL_STORE and `store` of a configuration name: a file, or the address of a database.

/** Whether a place is the address of a database. */
export function isAddress(place: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(place);
}

/** A place for people: of an address only host and database. */
export function shownPlace(place: string): string {
  if (!isAddress(place)) return place;
  return URL.canParse(place) ? `postgres ${nameOf(addressOf(place).address)}` : hidden;
}

/** A place as a person can type it again. There may be a password in an address, so it is not repeated. */
export function placeWord(place: string): string {
  return isAddress(place) ? hidden : shellWord(place);
}

const hidden = 'postgres://…';

/** `?schema=agents` names the tables, which the driver knows nothing of. */
export function addressOf(place: string): { readonly address: string; readonly schema: string | undefined } {
  const url = new URL(place);
  const schema = url.searchParams.get('schema') ?? undefined;
  if (schema === undefined) return { address: place, schema };
  url.searchParams.delete('schema');
  return { address: url.href, schema };
}
