import { describe, expect, it } from 'vitest';
import { signOfStorageError, signOfToolErrno } from './file-signs.ts';

describe('signOfStorageError()', () => {
  it.each([
    ['an unknown code', { code: 'EWHAT' }],
    ['a code of the prototype', { code: 'constructor' }],
    ['a name of the prototype', { code: 'SQLITE_CONSTRUCTOR' }],
    ['a number that is none', { errcode: Number.NaN }],
    ['a negative number', { errcode: -5 }],
    ['success', { errcode: 0 }],
    ['a text as number', { errcode: '5' }],
    ['nothing', undefined],
  ])('says nothing of %s', (_, thrown) => {
    expect(signOfStorageError(thrown)).toBeUndefined();
  });

  it.each([
    ['better-sqlite3', { code: 'SQLITE_BUSY' }, 'STORAGE_LOCKED'],
    ['an extended name', { code: 'SQLITE_BUSY_SNAPSHOT' }, 'STORAGE_LOCKED'],
    [
      'an extended number (517 is BUSY_SNAPSHOT)',
      { code: 'ERR_SQLITE_ERROR', errcode: 517 },
      'STORAGE_LOCKED',
    ],
    ['node:sqlite', { code: 'ERR_SQLITE_ERROR', errcode: 5 }, 'STORAGE_LOCKED'],
    ['a full disk', { code: 'ERR_SQLITE_ERROR', errcode: 13 }, 'STORAGE_FULL'],
    ['no database', { code: 'ERR_SQLITE_ERROR', errcode: 26 }, 'STORAGE_CORRUPT'],
    ['damage', { code: 'SQLITE_CORRUPT_INDEX' }, 'STORAGE_CORRUPT'],
    ['no way to open', { code: 'SQLITE_CANTOPEN_ISDIR' }, 'STORAGE_NOT_FOUND'],
    ['I/O', { code: 'SQLITE_IOERR_FSYNC' }, 'STORAGE_IO'],
    ['a read-only file', { code: 'ERR_SQLITE_ERROR', errcode: 8 }, 'STORAGE_READ_ONLY'],
    [
      'a read-only folder (1544 is READONLY_DIRECTORY)',
      { code: 'ERR_SQLITE_ERROR', errcode: 1544 },
      'STORAGE_READ_ONLY',
    ],
    ['a read-only disk', { code: 'EROFS' }, 'STORAGE_READ_ONLY'],
    ['an errno', { code: 'ENOSPC' }, 'STORAGE_FULL'],
  ])('knows %s', (_, thrown, code) => {
    expect(signOfStorageError(thrown)?.code).toBe(code);
  });
});

describe('signOfToolErrno()', () => {
  it('says nothing of what it does not know', () => {
    for (const errno of ['', 'EWHAT', 'toString', '__proto__'])
      expect(signOfToolErrno(errno)).toBeUndefined();
  });

  it('retries only what passes by itself', () => {
    const passing = ['EBUSY', 'EMFILE', 'ENFILE', 'EAGAIN'];
    for (const errno of passing)
      expect(signOfToolErrno(errno)).toMatchObject({ code: 'IO_ERROR', retryable: true });
    for (const errno of ['ENOSPC', 'EROFS', 'EISDIR'])
      expect(signOfToolErrno(errno)?.retryable).not.toBe(true);
  });
});
