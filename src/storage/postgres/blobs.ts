import { storageError } from '../common/storage-error.ts';
import { decodeContent, encodeContent, encodeText } from '../common/stored-text.ts';
import type { Connection } from './held.ts';
import { change, getRow } from './query.ts';

/** Keeps a content once, however often it is given, and notes who needs it. Gives its hash. */
export async function keepBlob(connection: Connection, content: string, runId: string): Promise<string> {
  const { stored, hash } = encodeContent(content);
  await change(connection, keepStatement, [hash, stored, encodeText(runId)]);
  return hash;
}

/** The content of a hash, checked against it. */
export async function findBlob(connection: Connection, hash: string): Promise<string | undefined> {
  const row = await getRow(connection, { text: 'SELECT content FROM @.blobs WHERE hash = $1' }, [
    encodeText(hash),
  ]);
  if (row === undefined) return undefined;
  const content = decodeContent(String(row['content']), hash);
  if (content !== undefined) return content;
  throw storageError('STORAGE_CORRUPT', {
    message: `The content "${hash}" is damaged: it does not match its hash`,
    hint: 'Restore a copy of the data. Runs that do not need it are not affected.',
    context: { hash },
  });
}

// What is there is locked, changed or not: a removal at the same time waits, and then sees that it is needed. Where it is
// damaged, the right one is at hand.
const keepStatement = {
  text: `WITH kept AS (INSERT INTO @.blobs AS blobs (hash, content) VALUES ($1, $2)
      ON CONFLICT (hash) DO UPDATE SET content = excluded.content WHERE blobs.content <> excluded.content)
    INSERT INTO @.run_blobs (run_id, hash) VALUES ($3, $1) ON CONFLICT DO NOTHING`,
};
