import { configError } from '../errors/config-error.ts';
import type { Store } from '../model/store.ts';
import { showValue } from '../model/show-value.ts';
import { writeCopy } from './copy-run.ts';
import { noSuchRun } from './export-run.ts';
import { renameRun } from './rename-run.ts';
import { at, readRunBlobs } from './run-blobs.ts';
import { rowOfStart } from './stored-rows.ts';
import { toEvent } from './stored-run.ts';

export interface ForkPlace {
  readonly runId: string;
  /** The last event that the fork has in common with the run. */
  readonly seq: number;
  /** The name of the fork; made of the two above unless told. */
  readonly as?: string;
}

/**
 * Makes a new run of the first events of another one, and gives its name; `agent.resume` goes on from there. What had finished by
 * then does not run again; what had only begun is treated as after a crash. Its idempotency keys are its own: the world takes its
 * calls for new ones. Rejects with `STORAGE_NOT_FOUND` or `ALREADY_REGISTERED`; throws a `ConfigError` for an event that is not there.
 *
 * @example await agent.resume(await forkRun(store, { runId: 'order-17', seq: 12 }));
 */
export async function forkRun(store: Store, { runId, seq, as }: ForkPlace): Promise<string> {
  const name = as ?? `${runId}-fork-${seq}`;
  if (typeof name !== 'string' || name === '') throw configError(`"as" names the fork, got ${showValue(as)}`);
  const row = await store.runs.find(runId);
  if (row === undefined) throw noSuchRun(store, runId);
  if (!Number.isInteger(seq) || seq < 1 || seq > row.headSeq)
    throw configError(
      `Cannot fork run "${runId}" at event ${showValue(seq)}: its events are numbered 1 to ${row.headSeq}`,
    );
  const events = await store.runs.events(runId, { to: seq });
  await writeCopy(store, {
    runId: name,
    agent: row.agent,
    sessionId: row.sessionId,
    prepare: async () => {
      // What the fork needs must outlive the run that it was taken from.
      for (const { content } of await readRunBlobs(store.blobs, runId, events))
        await store.blobs.put(content, name);
      const own = events.map((event) => {
        const { type, body } = renameRun(event, { from: runId, to: name });
        return { type, body };
      });
      return [...own, toEvent({ type: 'forked', body: { from: runId, seq } })];
    },
    row: { status: 'running', ...rowOfStart(at(events[0]?.body, ['input'])) },
  });
  return name;
}
