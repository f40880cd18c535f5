import { systemId } from '../../base/system.ts';
import type { LeaseOwner, NewEvent, NewRun, RowChange, Store } from '../../model/store/store.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

/** A run that is written as a whole. */
export interface RunCopy {
  readonly runId: string;
  readonly agent: string;
  readonly sessionId?: string | undefined;
  /** Writes what the events refer to, and gives them. Asked only where the name is free. */
  readonly prepare: () => Promise<readonly NewEvent[]>;
  readonly row: RowChange;
  /** Copies the runs below it. Until that is done it stands there as a copy that was broken off. */
  readonly copyBelow?: (() => Promise<void>) | undefined;
}

/** Long enough to write a run; a process that dies meanwhile blocks its name no longer than that. */
const leaseMs = 60_000;

/** Listed while a copy is being written, and after a crash in between. */
const unfinished = 'An interrupted copy of a run: copy it again';

const broken: RowChange = { status: 'parked', reason: unfinished };

/**
 * Writes a whole run under a name that is free; no process holds it afterwards. Rejects with `ALREADY_REGISTERED` where there is such
 * a run, unless it is what a copy has left that was broken off.
 */
export async function writeCopy(store: Store, copy: RunCopy): Promise<void> {
  const owner: LeaseOwner = { id: systemId(), leaseMs };
  if (await tryCopy(store, copy, owner)) return;
  const { runId } = copy;
  const row = await store.runs.find(runId);
  if (row?.reason === unfinished) {
    const claimed = await store.runs.claim(runId, owner);
    if (claimed.type === 'claimed') await store.runs.remove(runId);
    if (claimed.type !== 'held' && (await tryCopy(store, copy, owner))) return;
  }
  throw alreadyThere(store, runId);
}

async function tryCopy(store: Store, copy: RunCopy, owner: LeaseOwner): Promise<boolean> {
  const { runId, agent, sessionId, prepare, row, copyBelow } = copy;
  if ((await store.runs.find(runId)) !== undefined) return false;
  const all = await prepare();
  const last = copyBelow === undefined ? [] : all.slice(-1);
  const events = all.slice(0, all.length - last.length);
  const now = last.length === 0 ? row : broken;
  // A store knows where the current generation begins by what is written at once.
  const start = events.findLastIndex(({ type }) => type === 'began');
  const run: NewRun = { runId, agent, events, ...(sessionId === undefined ? {} : { sessionId }) };
  const first: NewRun =
    start === 0
      ? { ...run, row: { ...now, beginsGeneration: true } }
      : { ...run, events: events.slice(0, start), row: broken };
  const created = await store.runs.create(first, owner);
  if (created.type === 'exists') return false;
  const { lease } = created;
  if (start > 0) {
    const rest = { events: events.slice(start), row: { reason: null, ...now, beginsGeneration: true } };
    await store.runs.append(lease, rest);
  }
  await copyBelow?.();
  if (last.length > 0) await store.runs.append(lease, { events: last, row: { reason: null, ...row } });
  await store.runs.release(lease);
  return true;
}

/** There is a run of this name in the store. */
export function alreadyThere({ name }: Store, runId: string): RerailError {
  return RerailError.from(
    createFailure('ALREADY_REGISTERED', {
      origin: 'registry',
      message: `There is a run "${runId}" in ${name} already: it was not touched`,
      hint: 'Give the copy another name with "as".',
      context: { runId },
    }),
  );
}
