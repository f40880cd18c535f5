import { statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { readProperty } from '../../errors/classify/safe-read.ts';
import type { Store } from '../../model/store/store.ts';
import { storageError } from '../../storage/common/storage-error.ts';
import { postgres } from '../../storage/postgres/postgres.ts';
import { lostError } from '../../storage/sqlite/open-database.ts';
import { sqlite } from '../../storage/sqlite/sqlite.ts';
import { toStorageError } from '../../storage/sqlite/storage-errors.ts';
import { addressOf, isAddress } from './store-place.ts';

/** How a place is opened. */
export interface PlaceOptions {
  readonly clock?: Clock | undefined;
  /** Whether what is not there is made. */
  readonly create: boolean;
}

/** The store at a place. Nothing is opened yet. */
export function storeAt(place: string, { clock, create }: PlaceOptions): Store {
  if (!isAddress(place)) return sqlite(place, defined({ clock }));
  // One that cannot be read is refused by the store, without being shown.
  const { address, schema } = URL.canParse(place) ? addressOf(place) : { address: place, schema: undefined };
  return postgres(address, defined({ clock, schema, create, busyTimeoutMs: create ? undefined : maxLookMs }));
}

/** A person waits at a terminal, and nothing is lost by asking again. */
const maxLookMs = 2000;

/**
 * A store that is there already: looking for one must never make one. What is wrong with it is said by its verbs, and here only
 * that there is none.
 */
export function openExisting(file: string): Store {
  const store = storeAt(file, { create: false });
  if (isAddress(file)) return store;
  const found = look(file);
  if (found?.isFile() === true && found.size > 0) return store;
  if (found?.isFile() === false) throw notThere(file, found.isDirectory() ? 'is a directory' : 'is no file');
  const leftBehind = ['-heads', '-wal'].some((end) => (look(file + end)?.size ?? 0) > 0);
  if (leftBehind) throw lostError(path.resolve(file), 'is missing or empty, but there was one');
  throw notThere(file, found === undefined ? 'does not exist' : 'is empty');
}

/** How large the file is, for people; of a database it is not known. */
export function bytesOf(file: string): number | undefined {
  return isAddress(file) ? undefined : (look(file)?.size ?? 0);
}

function look(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (readProperty(error, 'code') === 'ENOTDIR') return undefined; // A part of its path is a file.
    throw toStorageError(error, file);
  }
}

function notThere(file: string, what: string): Error {
  return storageError('STORAGE_NOT_FOUND', {
    message: `There is no store at "${path.resolve(file)}": it ${what}`,
    hint: 'Nothing was made in its place. Check the path: leave --store out for the runs of this command, or give the one that your program gives to sqlite().',
    context: { path: file },
  });
}
