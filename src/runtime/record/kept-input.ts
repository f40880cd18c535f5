import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { BlobStore } from '../../model/store/store.ts';

/**
 * A generation that continues from a state would write the whole conversation down again, and a long run ever more of it. So its
 * messages are kept in pieces by their content: a piece that is on record already costs its name.
 */
const chunkMessages = 64;

/** The input of a generation as it is written down. */
export async function keepInput(input: Json, runId: string, blobs: BlobStore): Promise<Json> {
  const settled = settledOf(input);
  if (settled === undefined || settled.length < chunkMessages) return input;
  const whole = settled.length - (settled.length % chunkMessages);
  const chunks = await Promise.all(
    Array.from({ length: whole / chunkMessages }, (_, index) =>
      blobs.put(JSON.stringify(settled.slice(index * chunkMessages, (index + 1) * chunkMessages)), runId),
    ),
  );
  return withSettled(input, { chunks, rest: settled.slice(whole) });
}

/** The input as it was given. Rejects with `STORAGE_CORRUPT` where a piece is missing. */
export async function readInput(input: Json, runId: string, blobs: Pick<BlobStore, 'get'>): Promise<Json> {
  const settled = settledIn(input);
  if (!isRecord(settled) || !Array.isArray(settled['chunks'])) return input;
  const rest = Array.isArray(settled['rest']) ? settled['rest'] : [];
  const pieces = await Promise.all(
    settled['chunks'].map(async (hash) => {
      const content = await blobs.get(String(hash));
      if (content === undefined) throw missingPiece(runId, String(hash));
      return JSON.parse(content) as Json[]; // Written above, and its hash was checked.
    }),
  );
  return withSettled(input, pieces.flat().concat(rest));
}

/** The messages of a state that a generation continues from. */
function settledOf(input: Json): readonly Json[] | undefined {
  const settled = settledIn(input);
  return Array.isArray(settled) ? settled : undefined;
}

function settledIn(input: Json): Json | undefined {
  const state = isRecord(input) ? input['state'] : undefined;
  const history = isRecord(state) ? state['history'] : undefined;
  return isRecord(history) ? history['settled'] : undefined;
}

function withSettled(input: Json, settled: Json): Json {
  const given = input as { readonly state: { readonly history: { readonly [key: string]: Json } } }; // As `settledIn` has seen.
  return { ...given, state: { ...given.state, history: { ...given.state.history, settled } } };
}

/** What is said where a piece of a conversation is not there. */
export function missingPiece(runId: string, hash: string): RerailError {
  const message = `A part of the conversation of run "${runId}" is missing: the blob ${hash} is not in the store`;
  return RerailError.from(
    createFailure('STORAGE_CORRUPT', { origin: 'storage', message, context: { runId, hash } }),
  );
}
