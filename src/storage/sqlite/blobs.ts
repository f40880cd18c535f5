import { storageError } from '../common/storage-error.ts';
import { decodeContent, encodeContent, encodeText } from '../common/stored-text.ts';
import { change, getRow } from './held.ts';
import type { Connection } from './held.ts';

/** Keeps a content once, however often it is given, and notes who needs it. Gives its hash. */
export function keepBlob(connection: Connection, content: string, runId: string): string {
  const { stored, hash } = encodeContent(content);
  // Where it is there but damaged, the right one is at hand.
  change(connection, keepSql, [hash, stored]);
  change(connection, 'INSERT OR IGNORE INTO run_blobs (run_id, hash) VALUES (?, ?)', [
    encodeText(runId),
    hash,
  ]);
  return hash;
}

/** The content of a hash, checked against it. */
export function findBlob(connection: Connection, hash: string): string | undefined {
  const row = getRow(connection, 'SELECT content FROM blobs WHERE hash = ?', [encodeText(hash)]);
  if (row === undefined) return undefined;
  const content = decodeContent(String(row['content']), hash);
  if (content !== undefined) return content;
  throw storageError('STORAGE_CORRUPT', {
    message: `The content "${hash}" is damaged: it does not match its hash`,
    hint: 'Restore a copy of the file. Runs that do not need it are not affected.',
    context: { hash },
  });
}

const keepSql = `INSERT INTO blobs (hash, content) VALUES (?, ?)
  ON CONFLICT (hash) DO UPDATE SET content = excluded.content WHERE content <> excluded.content`;
