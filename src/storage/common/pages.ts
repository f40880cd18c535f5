import { storageError } from './storage-error.ts';

const defaultLimit = 50;
const maxLimit = 1000;

/** How many a page holds. */
export function limitOf(limit: number = defaultLimit): number {
  return Math.min(Math.max(1, Math.floor(limit)), maxLimit);
}

/** Where a page ends: the last one seen, so that what is added meanwhile moves nothing. */
export interface Place {
  readonly createdAtMs: number;
  readonly id: string;
}

export function nextOf(createdAtMs: number, id: string): string {
  return JSON.stringify([createdAtMs, id]);
}

export function placeAt(cursor: string): Place {
  const place = /^\[(-?\d+),(".*")\]$/s.exec(cursor);
  const id = place === null ? undefined : parseText(place[2] ?? '');
  if (place === null || id === undefined) {
    throw storageError('STORAGE_NOT_FOUND', {
      message: `There is no page at the cursor "${cursor}"`,
      hint: 'A cursor is the "next" of the page before, unchanged. Start again without one.',
    });
  }
  return { createdAtMs: Number(place[1]), id };
}

function parseText(json: string): string | undefined {
  try {
    return String(JSON.parse(json));
  } catch {
    // No cursor of ours; the caller says so.
    return undefined;
  }
}
