import { isRecord } from '../../base/json.ts';
import type { Message } from '../../model/message.ts';
import type { BlobStore, NewEvent } from '../../model/store/store.ts';
import { missingPiece } from './kept-input.ts';
import { spilledHashes } from '../tool-result/spill-result.ts';

/** A content that events of a run refer to. */
export interface RunBlob {
  readonly hash: string;
  readonly content: string;
  /** A piece of a conversation, as JSON; or the whole of a long result. */
  readonly type: 'messages' | 'text';
}

/**
 * All that the events of a run refer to, in the order in which they do. A piece of the conversation must be there; a long result
 * may be gone. Only what the run itself has put away counts: a hash that was merely written opens nothing.
 */
export async function readRunBlobs(
  blobs: Pick<BlobStore, 'get'>,
  runId: string,
  events: readonly NewEvent[],
): Promise<readonly RunBlob[]> {
  const found = new Map<string, RunBlob>();
  for (const event of events) {
    const messages: unknown[] = [...messagesIn(event)];
    for (const hash of chunkHashesIn(event)) {
      if (found.has(hash)) continue;
      const content = await blobs.get(hash);
      const piece = content === undefined ? undefined : readChunk(content);
      if (content === undefined || piece === undefined) throw missingPiece(runId, hash);
      found.set(hash, { hash, content, type: 'messages' });
      messages.push(...piece);
    }
    for (const hash of spilledHashes(messages.filter(isToolMessage))) {
      const content = found.has(hash) ? undefined : await blobs.get(hash);
      if (content !== undefined) found.set(hash, { hash, content, type: 'text' });
    }
  }
  return [...found.values()];
}

/** The pieces of the conversation that a generation begins with, where they are kept apart. */
export function chunkHashesIn({ type, body }: NewEvent): readonly string[] {
  const settled = type === 'began' ? at(body, ['input', 'state', 'history', 'settled']) : undefined;
  const chunks = isRecord(settled) ? settled['chunks'] : undefined;
  return Array.isArray(chunks) ? chunks.map(String) : [];
}

/** The messages of a piece, or nothing where it is none. */
export function readChunk(content: string): readonly unknown[] | undefined {
  try {
    const piece: unknown = JSON.parse(content);
    return Array.isArray(piece) ? piece : undefined;
  } catch {
    return undefined; // Said by the code that knows which one it is.
  }
}

/** Follows names into a value from outside. */
export function at(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (!isRecord(current) || !Object.hasOwn(current, name)) return undefined;
    current = current[name];
  }
  return current;
}

function messagesIn({ type, body }: NewEvent): readonly unknown[] {
  if (type === 'began') {
    const history = at(body, ['input', 'state', 'history']);
    const lists = [
      at(body, ['input', 'messages']),
      at(history, ['settled']),
      at(history, ['settled', 'rest']),
      at(history, ['recent']),
    ];
    return lists.flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []));
  }
  const end = at(body, ['outcome', 'value', 'end']) ?? at(body, ['outcome', 'value', 'found', 'end']);
  return type === 'call' && isRecord(end)
    ? [{ role: 'tool', content: [{ ...end, type: 'tool-result' }] }]
    : [];
}

function isToolMessage(message: unknown): message is Message {
  if (!isRecord(message) || message['role'] !== 'tool' || !Array.isArray(message['content'])) return false;
  return message['content'].every(
    (result: unknown) =>
      isRecord(result) &&
      (typeof result['content'] === 'string' ||
        (Array.isArray(result['content']) && result['content'].every((part: unknown) => isRecord(part)))),
  );
}
