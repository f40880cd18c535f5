// Table: what failures of saved data say to their three readers. The compiler asks for a row per code.

import type { FailureCode } from './codes.ts';
import type { ThreeTexts } from './three-texts.ts';

type StorageCode = Extract<FailureCode, `STORAGE_${string}`>;

export const storageTexts: Readonly<Record<StorageCode, ThreeTexts>> = {
  STORAGE_NOT_FOUND: {
    forDeveloper: 'The file, database or record does not exist or cannot be opened.',
    forPerson: {
      what: 'The saved data was not found.',
      next: 'Check the path and the id.',
    },
    forModel: 'The saved data was not found.',
  },
  STORAGE_CORRUPT: {
    forDeveloper:
      'The stored data is damaged or is not a database. Nothing of it was changed, and nothing goes on from it.',
    forPerson: {
      what: 'The saved data is damaged.',
      next: 'Keep the file as it is, and restore a backup.',
    },
    forModel: 'The saved data is damaged and cannot be used.',
  },
  STORAGE_LOCKED: {
    forDeveloper: 'Another process holds the database.',
    forPerson: {
      what: 'Another process is using the saved data.',
      next: 'If it goes on, find the other process and stop it.',
    },
    forModel: 'The saved data is in use. The same act may succeed later.',
  },
  STORAGE_FULL: {
    forDeveloper: 'No space, or the quota of the disk is used up. What was saved before is whole.',
    forPerson: {
      what: 'The disk is full.',
      next: 'Free some space, then go on; what was saved before is whole.',
    },
    forModel: 'The disk is full. Nothing more can be saved.',
  },
  STORAGE_IO: {
    forDeveloper: 'Reading or writing the store failed: an I/O error of the disk, too many open files.',
    forPerson: {
      what: 'The saved data could not be read or written.',
      next: 'Check the disk and the rights of the file.',
    },
    forModel: 'The saved data could not be read or written.',
  },
  STORAGE_READ_ONLY: {
    forDeveloper:
      'The store can be read but not written: the file, its folder or the whole disk is read-only. Nothing was changed.',
    forPerson: {
      what: 'The saved data can be read, but nothing can be added to it.',
      next: 'Make the file, its folder and the disk writable for this program, then go on.',
    },
    forModel:
      'The saved data cannot be changed. Do not try to save anything; say that it could not be saved.',
  },
  STORAGE_LOST: {
    forDeveloper:
      'The database file was deleted, replaced or emptied, and the record beside it knows of runs that it held. No new history is begun under a known id.',
    forPerson: {
      what: 'The saved data is gone: its file was deleted, replaced or emptied.',
      next: 'Restore the file from a backup, or, to begin afresh, remove the file beside it that ends in `-heads`.',
    },
    forModel: 'The saved data is gone. Do not act as if nothing had been done before.',
  },
  STORAGE_DIVERGED: {
    forDeveloper:
      'The head record says that there were more events than there are: an old backup was restored, or the tail was lost. What the missing events did has been done.',
    forPerson: {
      what: 'The saved data is older than it should be: the end of what was recorded is missing.',
      next: 'Restore a newer backup, or, knowing that what is missing may have been done, accept what is there with `store.runs.acceptHead(runId)`.',
    },
    forModel:
      'The end of the saved data is missing. What it recorded may have been done; do not repeat it unchecked.',
  },
  STORAGE_NEWER_SCHEMA: {
    forDeveloper:
      'A newer version of Rerail has written this store, in a layout that this version does not know. Nothing was read or changed.',
    forPerson: {
      what: 'The saved data was written by a newer version of Rerail.',
      next: 'Update Rerail to at least that version, or open another file; the saved data is unchanged.',
    },
    forModel: 'The saved data is of a newer version and cannot be used here.',
  },
};
