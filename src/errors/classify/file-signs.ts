import { readProperty, readText } from './safe-read.ts';
import type { Sign } from './verdict.ts';

/** What a file system's error code means to a tool. */
const toolSigns: Readonly<Record<string, Sign>> = {
  ENOENT: { code: 'NOT_FOUND' },
  ENOTDIR: { code: 'NOT_FOUND' },
  EACCES: { code: 'PERMISSION_DENIED' },
  EPERM: { code: 'PERMISSION_DENIED' },
  ENOSPC: { code: 'IO_ERROR' },
  EDQUOT: { code: 'IO_ERROR' },
  EROFS: { code: 'IO_ERROR' },
  EIO: { code: 'IO_ERROR' },
  EISDIR: { code: 'IO_ERROR' },
  EEXIST: { code: 'IO_ERROR' },
  ENOTEMPTY: { code: 'IO_ERROR' },
  EXDEV: { code: 'IO_ERROR' },
  ELOOP: { code: 'IO_ERROR' },
  EFBIG: { code: 'IO_ERROR' },
  ENAMETOOLONG: { code: 'IO_ERROR' },
  EBUSY: { code: 'IO_ERROR', retryable: true },
  EMFILE: { code: 'IO_ERROR', retryable: true },
  ENFILE: { code: 'IO_ERROR', retryable: true },
  EAGAIN: { code: 'IO_ERROR', retryable: true },
};

/** The same for a store. */
const storageSigns: Readonly<Record<string, Sign>> = {
  ENOENT: { code: 'STORAGE_NOT_FOUND' },
  ENOTDIR: { code: 'STORAGE_NOT_FOUND' },
  EACCES: { code: 'PERMISSION_DENIED' },
  EPERM: { code: 'PERMISSION_DENIED' },
  ENOSPC: { code: 'STORAGE_FULL' },
  EDQUOT: { code: 'STORAGE_FULL' },
  EROFS: { code: 'STORAGE_READ_ONLY' },
  EIO: { code: 'STORAGE_IO' },
  EMFILE: { code: 'STORAGE_IO', retryable: true },
  ENFILE: { code: 'STORAGE_IO', retryable: true },
  EBUSY: { code: 'STORAGE_LOCKED' },
};

/** SQLite's primary result codes; the higher bits of an extended code only refine them. */
const sqliteSigns: Readonly<Record<number, Sign>> = {
  5: { code: 'STORAGE_LOCKED' }, // SQLITE_BUSY
  6: { code: 'STORAGE_LOCKED' }, // SQLITE_LOCKED
  8: { code: 'STORAGE_READ_ONLY' }, // SQLITE_READONLY
  10: { code: 'STORAGE_IO' }, // SQLITE_IOERR
  11: { code: 'STORAGE_CORRUPT' }, // SQLITE_CORRUPT
  13: { code: 'STORAGE_FULL' }, // SQLITE_FULL
  14: { code: 'STORAGE_NOT_FOUND' }, // SQLITE_CANTOPEN
  26: { code: 'STORAGE_CORRUPT' }, // SQLITE_NOTADB
};

const sqliteNames: Readonly<Record<string, number>> = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  NOTADB: 26,
};

/** What an error code says about a file in a tool's hands. */
export function signOfToolErrno(errno: string): Sign | undefined {
  return Object.hasOwn(toolSigns, errno) ? toolSigns[errno] : undefined;
}

/** What an error says about a store: an errno, or SQLite's own code in the shapes its drivers give it. */
export function signOfStorageError(thrown: unknown): Sign | undefined {
  const code = readText(thrown, 'code') ?? '';
  if (Object.hasOwn(storageSigns, code)) return storageSigns[code];
  const named = /^SQLITE_([A-Z]+)/.exec(code)?.[1] ?? '';
  const number =
    readProperty(thrown, 'errcode') ?? (Object.hasOwn(sqliteNames, named) ? sqliteNames[named] : undefined);
  return typeof number === 'number' ? sqliteSigns[number % 256] : undefined;
}
