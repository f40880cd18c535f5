import { isBelow, parentIdOf } from '../../model/store/run-tree.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { ProvenRecords } from '../../model/store/proven.ts';
import type { RunPage, RunQuery, RunRow, Store } from '../../model/store/store.ts';
import type { WholeRun } from '../../model/store/whole-run.ts';
import { openProven } from './salvage-runs.ts';

/** A damaged store as far as its chains prove it: everything that reads works, everything that writes is refused. */
export async function openProvenView(store: Store): Promise<Store> {
  const proven = await openProven(store);
  const refuse = (): Promise<never> => Promise.reject(readOnly(store));
  const whole = async (runId: string): Promise<WholeRun | undefined> => (await proven.run(runId)).run;
  return {
    name: store.name,
    durability: store.durability,
    runs: {
      create: refuse,
      claim: refuse,
      append: refuse,
      renew: refuse,
      release: refuse,
      signal: refuse,
      prune: refuse,
      remove: refuse,
      acceptHead: refuse,
      restore: refuse,
      whole,
      find: async (runId) => (await whole(runId))?.row,
      events: async (runId, { from = 1, to = Infinity } = {}) =>
        (await whole(runId))?.events.filter(({ seq }) => seq >= from && seq <= to) ?? [],
      signals: async (runId) => (await whole(runId))?.signals.filter(({ isTaken }) => !isTaken) ?? [],
      list: (query = {}) => listProven(proven, query),
      waiting: () => Promise.resolve([]),
    },
    blobs: { put: refuse, get: (hash) => proven.blob(hash) },
    sessions: {
      append: refuse,
      trim: refuse,
      remove: refuse,
      restore: refuse,
      whole: (sessionId) => proven.session(sessionId),
      find: async (sessionId) => (await proven.session(sessionId))?.row,
      list: () => Promise.resolve({ sessions: [] }),
      messages: async (sessionId, { last = Infinity } = {}) =>
        (await proven.session(sessionId))?.messages.map(({ message }) => message).slice(-last) ?? [],
    },
    open: () => Promise.resolve(),
    check: (options) => store.check(options),
    close: () => proven.close(),
  };
}

/** All of them are looked at, and one page of the latest is given: the owner of a damaged store wants to see what is left. */
async function listProven(proven: ProvenRecords, query: RunQuery): Promise<RunPage> {
  const rows: RunRow[] = [];
  for (const runId of await proven.runIds()) {
    const row = (await proven.run(runId)).run?.row;
    if (row !== undefined && fits(row, query)) rows.push(row);
  }
  const latest = rows.toSorted((one, other) => other.createdAtMs - one.createdAtMs);
  return { runs: latest.slice(0, query.limit ?? 50) };
}

function fits(row: RunRow, query: RunQuery): boolean {
  const { status, agent, sessionId, code, tool, text, fromMs, toMs, below } = query;
  const isUnder =
    below === undefined || (below === false ? parentIdOf(row) === undefined : isBelow(row, below));
  return (
    isUnder &&
    (status === undefined || status.includes(row.status)) &&
    (agent === undefined || row.agent === agent) &&
    (sessionId === undefined || row.sessionId === sessionId) &&
    (code === undefined || row.code === code) &&
    (tool === undefined || row.tools.includes(tool)) &&
    (text === undefined || row.text.toLowerCase().includes(text.toLowerCase())) &&
    (fromMs === undefined || row.createdAtMs >= fromMs) &&
    (toMs === undefined || row.createdAtMs < toMs)
  );
}

function readOnly({ name }: Store): RerailError {
  return RerailError.from(
    createFailure('STORAGE_CORRUPT', {
      origin: 'storage',
      message: `${name} is damaged, so it is only read: nothing was changed`,
      hint: 'Restore a copy, or save the proven part into a new store: rerail store salvage <from> <to>',
    }),
  );
}
