import { configError } from '../../errors/config-error.ts';
import { systemClock, systemId } from '../../base/system.ts';
import type { NewEvent, RowChange, RunRow, Store, StoredEvent } from '../../model/store/store.ts';
import { showValue } from '../../model/check/show-value.ts';
import { childrenIn, eventsAsTold } from '../children/child-runs.ts';
import { writeCopy } from './copy-run.ts';
import { noSuchRun, renameBlobs } from './export-run.ts';
import { statusIn } from './read-bundle.ts';
import { recordPieces, renameId, renamePiece, renameRun } from './rename-run.ts';
import { at, readRunBlobs } from '../record/run-blobs.ts';
import { rowOfStart } from '../record/stored-rows.ts';
import { arrivalTypes, provenanceIn, toEvent } from '../record/stored-run.ts';
import { checkOptions } from '../../model/check/check-options.ts';

export interface ForkPlace {
  readonly runId: string;
  /** The last event that the fork has in common with the run. */
  readonly seq: number;
  /** The name of the fork; made of the two above by default. */
  readonly as?: string;
}

/**
 * Makes a new run of the first events of another one, and gives its name; `agent.resume` continues from there. What had finished by
 * then does not run again; what had only begun is treated as after a crash. Its idempotency keys are its own: the world takes its
 * calls for new ones. Of a flow, the runs below that are on record by then are copied as they were; a node that had not come to
 * an end starts over. Rejects with `STORAGE_NOT_FOUND` or `ALREADY_REGISTERED`; throws a `ConfigError` for an event that is not there.
 *
 * @example await agent.resume(await forkRun(store, { runId: 'order-17', seq: 12 }));
 */
export async function forkRun(store: Store, place: ForkPlace): Promise<string> {
  checkOptions({ of: 'forkRun()', rules: ['runId', 'seq', 'as'] }, place);
  const { runId, seq, as } = place;
  const name = as ?? `${runId}-fork-${seq}`;
  if (typeof name !== 'string' || name === '') throw configError(`"as" names the fork, got ${showValue(as)}`);
  const row = await store.runs.find(runId);
  if (row === undefined) throw noSuchRun(store, runId);
  if (!Number.isInteger(seq) || seq < 1 || seq > row.headSeq)
    throw configError(
      `Cannot fork run "${runId}" at event ${showValue(seq)}: its events are numbered 1 to ${row.headSeq}`,
    );
  const events = await store.runs.events(runId, { to: seq });
  const begun = { status: 'running', ...rowOfStart(at(events[0]?.body, ['input'])) } as const;
  await copyFirst(store, row, { events, name, listed: begun });
  return name;
}

interface First {
  readonly events: readonly StoredEvent[];
  readonly name: string;
  readonly listed: RowChange;
}

/** Writes the first events of a run as a run of its own. */
async function copyFirst(store: Store, row: RunRow, { events, name, listed }: First): Promise<void> {
  const { runId, agent, sessionId } = row;
  const names = { from: runId, to: name };
  await writeCopy(store, {
    runId: name,
    agent,
    sessionId,
    prepare: async () => {
      // What the fork needs must outlive the run that it was taken from.
      const pieces = recordPieces(events);
      const hashes = new Map<string, string>();
      for (const { hash, content } of await readRunBlobs(store.blobs, runId, events)) {
        const kept = pieces.has(hash) ? renamePiece(content, names) : content;
        hashes.set(hash, await store.blobs.put(kept, name));
      }
      const own = events.map((event) => {
        const { type, body } = renameBlobs(renameRun(event, names), hashes);
        return { type, body };
      });
      return [...own, ...(await endOfFork(store, row, events))];
    },
    row: listed,
    copyBelow: childrenIn(events).size === 0 ? undefined : () => copyChildren(store, events, names),
  });
}

/**
 * A fork is another run: an approval that was given before the cut and not used counts only in the run that it was given to. What was
 * imported is as foreign in a fork of it, also where the fork ends before the event that says so.
 */
async function endOfFork(
  store: Store,
  { runId, headSeq }: RunRow,
  events: readonly StoredEvent[],
): Promise<readonly NewEvent[]> {
  const seq = events.length;
  const later = seq < headSeq ? await store.runs.events(runId, { from: seq + 1, to: headSeq }) : [];
  const arrived = provenanceIn(later.filter(({ type }) => arrivalTypes.includes(type)));
  const own = { type: 'forked', atMs: systemClock.wallMs(), from: runId } as const;
  const provenance = { ...(arrived ?? provenanceIn(events) ?? own), id: systemId() };
  const moved = arrived === undefined ? [] : [toEvent({ type: 'moved', body: { provenance } })];
  return [...moved, toEvent({ type: 'forked', body: { from: runId, seq, provenance } })];
}

/** A fork that continues needs them: a hand-off what was said before, a node that failed or waits its own record. */
async function copyChildren(
  store: Store,
  events: readonly StoredEvent[],
  names: { readonly from: string; readonly to: string },
): Promise<void> {
  for (const [childId, mention] of childrenIn(events)) {
    const row = await store.runs.find(childId);
    const name = renameId(childId, names);
    // Removed by hand, or of a name too long to be derived: the record above says how it ended.
    if (row === undefined || name === childId) continue;
    const told = eventsAsTold(await store.runs.events(childId, { to: row.headSeq }), mention);
    const last = told.at(-1);
    if (last === undefined) continue;
    await copyFirst(store, row, { events: told, name, listed: listedAt(last, told, row) });
  }
}

/** What is listed of a run that ended or waited with this event. */
function listedAt(last: StoredEvent, told: readonly StoredEvent[], { tools }: RunRow): RowChange {
  const status = last.type === 'suspended' ? 'suspended' : statusIn(at(last.body, ['status']));
  const reason = at(last.body, ['reason']);
  return {
    status: status ?? 'parked',
    ...rowOfStart(at(told[0]?.body, ['input'])),
    tools,
    ...(typeof reason === 'string' ? { reason } : {}),
  };
}
