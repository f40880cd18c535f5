import { accessSync, constants, statfsSync } from 'node:fs';
import path from 'node:path';
import type { Json } from '../../base/json.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { storageError } from '../common/storage-error.ts';

/** What the driver or the file system has thrown, as a failure. What is neither is a defect, and is given back as it is. */
export function toStorageError(thrown: unknown, file: string): unknown {
  if (RerailError.isInstance(thrown) || !(thrown instanceof Error)) return thrown;
  const code = codeOf(thrown, file);
  if (code === undefined) return thrown;
  const { message, hint, retryable } = texts[code];
  return storageError(code, {
    message: `${message(file)}: ${thrown.message}`,
    hint,
    ...(retryable === undefined ? {} : { retryable }),
    context: { path: file, ...numbersOf(thrown) },
    cause: thrown,
  });
}

/** Whether the connection must be given up: after such an error it is unknown what it still holds. */
export function isConnectionBroken(thrown: unknown): boolean {
  const number = resultCodeOf(thrown);
  return number !== undefined && brokenCodes.has(number % 256);
}

/** Whether a part of the file cannot be made sense of. */
export function isDamaged(thrown: unknown): boolean {
  const number = resultCodeOf(thrown);
  return number !== undefined && number % 256 === 11;
}

/** Whether another process has the lock. */
export function isBusy(thrown: unknown): boolean {
  const number = resultCodeOf(thrown);
  return number !== undefined && [5, 6].includes(number % 256);
}

/** Whether what was to be written is there already, or may not be there. */
export function isMisfit(thrown: unknown): boolean {
  const number = resultCodeOf(thrown);
  return number !== undefined && number % 256 === 19;
}

type DriverCode = 'STORAGE_LOCKED' | 'STORAGE_READ_ONLY' | 'STORAGE_IO' | 'STORAGE_CORRUPT' | 'STORAGE_FULL';

interface Texts {
  readonly message: (file: string) => string;
  readonly hint: string;
  readonly retryable?: boolean;
}

const texts: Readonly<Record<DriverCode, Texts>> = {
  STORAGE_LOCKED: {
    message: (file) => `Another process holds the lock of "${file}"`,
    hint: 'Nothing was written. Wait until the other process is done, or find it and stop it; then do the same again.',
  },
  STORAGE_READ_ONLY: {
    message: (file) => `"${file}" cannot be written`,
    hint: 'Nothing was written. Give this user write access to the file and its folder, or mount the file system for writing.',
  },
  STORAGE_IO: {
    message: (file) => `Reading or writing "${file}" failed`,
    hint: 'Look at the disk and at the system log. The next call opens the file again and rereads its contents.',
  },
  STORAGE_CORRUPT: {
    message: (file) => `"${file}" is damaged, or is no SQLite database`,
    hint: 'Keep the file with its -wal and -heads as they are. Restore a copy, or save the readable part with: sqlite3 FILE .recover',
  },
  STORAGE_FULL: {
    message: (file) => `There is no space left for "${file}"`,
    hint: 'Nothing was written. Free some space, or prune runs that have ended, then continue.',
  },
};

/** SQLite's primary result codes; the higher bits of an extended code only refine them. */
const resultCodes: Readonly<Record<number, DriverCode>> = {
  // A statement of ours that does not fit the tables, a constraint that does not hold: the tables are not ours any more.
  1: 'STORAGE_CORRUPT',
  3: 'STORAGE_READ_ONLY',
  5: 'STORAGE_LOCKED',
  6: 'STORAGE_LOCKED',
  7: 'STORAGE_IO',
  8: 'STORAGE_READ_ONLY',
  10: 'STORAGE_IO',
  11: 'STORAGE_CORRUPT',
  13: 'STORAGE_FULL',
  14: 'STORAGE_IO',
  15: 'STORAGE_LOCKED',
  18: 'STORAGE_FULL',
  19: 'STORAGE_CORRUPT',
  20: 'STORAGE_CORRUPT',
  23: 'STORAGE_READ_ONLY',
  26: 'STORAGE_CORRUPT',
};

const brokenCodes: ReadonlySet<number> = new Set([7, 10, 11, 14, 26]);

const errnos: Readonly<Record<string, DriverCode>> = {
  ENOSPC: 'STORAGE_FULL',
  EDQUOT: 'STORAGE_FULL',
  EFBIG: 'STORAGE_FULL',
  EROFS: 'STORAGE_READ_ONLY',
  EACCES: 'STORAGE_READ_ONLY',
  EPERM: 'STORAGE_READ_ONLY',
  EBUSY: 'STORAGE_LOCKED',
};

function codeOf(thrown: Error, file: string): DriverCode | undefined {
  const number = resultCodeOf(thrown);
  if (number !== undefined) return refine(resultCodes[number % 256] ?? 'STORAGE_IO', file);
  const code = 'code' in thrown ? String(thrown.code) : '';
  // A number that no double can hold was never written by us.
  if (code === 'ERR_OUT_OF_RANGE') return 'STORAGE_CORRUPT';
  // What was written as JSON is no JSON any more.
  if (thrown instanceof SyntaxError) return 'STORAGE_CORRUPT';
  if (Object.hasOwn(errnos, code)) return errnos[code];
  return 'syscall' in thrown ? 'STORAGE_IO' : undefined;
}

/** SQLite calls much an I/O error that is a full disk or a missing right; the file system reports which. */
function refine(code: DriverCode, file: string): DriverCode {
  if (code !== 'STORAGE_IO') return code;
  const folder = path.dirname(file);
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < minFreeBytes) return 'STORAGE_FULL';
    accessSync(folder, constants.W_OK);
    accessSync(file, constants.W_OK);
    return code;
  } catch (error) {
    const errno = error instanceof Error && 'code' in error ? String(error.code) : '';
    return ['EROFS', 'EACCES', 'EPERM'].includes(errno) ? 'STORAGE_READ_ONLY' : code;
  }
}

const minFreeBytes = 65_536;

function resultCodeOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if ('errcode' in thrown && typeof thrown.errcode === 'number') return thrown.errcode;
  if (!('code' in thrown) || thrown.code !== 'ERR_SQLITE_ERROR') return undefined;
  return wordings.find(({ wording }) => thrown.message.includes(wording))?.number ?? ioError;
}

const ioError = 10;

/** SQLite's own sentences, for the package gives no number where a query fails between two rows. */
const wordings = [
  { wording: 'database is locked', number: 5 },
  { wording: 'database table is locked', number: 6 },
  { wording: 'attempt to write a readonly database', number: 8 },
  { wording: 'database disk image is malformed', number: 11 },
  { wording: 'database or disk is full', number: 13 },
  { wording: 'file is not a database', number: 26 },
] as const;

function numbersOf(thrown: Error): Readonly<Record<string, Json>> {
  const number = resultCodeOf(thrown);
  return number === undefined ? {} : { sqliteCode: number };
}
