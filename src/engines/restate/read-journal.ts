import { wait } from '../../base/abort.ts';
import { isRecord } from '../../base/json.ts';
import { engineError } from '../../runtime/record/durable-errors.ts';
import type { NamedSignal, RunEnd, RunSnapshot } from '../../runtime/record/journal.ts';
import { createInbox } from '../../runtime/record/memory-inbox.ts';
import type { DeskRun } from './desk.ts';
import { foldJournal } from './fold-journal.ts';
import type { Host } from './generation.ts';
import { askRestate } from './ingress.ts';
import { readRow, rowTypes } from './journal-rows.ts';

/**
 * What Restate has on record of a run: the desk's state and the journal of the latest generation, as Restate's own tables show them. No
 * worker is asked, so none need be there.
 */
export async function readJournal(host: Host, runId: string): Promise<RunSnapshot | undefined> {
  // The desk first: a signal that is taken between the two is then known to be taken, and none is missing.
  const desk = await readDesk(host, runId);
  if (desk === undefined) return undefined;
  const { run, signals, ids, end } = desk;
  const folded = await readGeneration(host, runId, run);
  const { begun, journal } = folded;
  const inbox = createInbox(Number.MAX_SAFE_INTEGER, { signals, signalIds: ids, journal });
  const cancelReason = run.cancelReason ?? folded.cancelReason;
  return {
    runId,
    version: run.version,
    generation: run.generation,
    input: begun.input,
    journal,
    signals: inbox.all().map(({ id, name, payload }) => ({ id, name, payload })),
    signalIds: inbox.ids(),
    ...(cancelReason === undefined ? {} : { cancelReason }),
    ...(end === undefined ? {} : { end }),
  };
}

interface Desk {
  readonly run: DeskRun;
  readonly signals: readonly NamedSignal[];
  readonly ids: readonly string[];
  readonly end: RunEnd | undefined;
}

async function readDesk(host: Host, runId: string): Promise<Desk | undefined> {
  const rows = await query(host, runId, [
    'SELECT key, value_utf8 FROM state',
    `WHERE service_name = ${quoted(host.names.desk)} AND service_key = ${quoted(runId)}`,
  ]);
  const state = new Map(
    rows.map((row) => [String(row['key']), JSON.parse(String(row['value_utf8'])) as unknown]),
  );
  // As the desk writes them.
  const run = state.get('run') as DeskRun | undefined;
  if (run === undefined) return undefined;
  return {
    run,
    signals: (state.get('signals') as readonly NamedSignal[] | undefined) ?? [],
    ids: (state.get('ids') as readonly string[] | undefined) ?? [],
    end: run.isEnded ? (state.get('end') as RunEnd | undefined) : undefined,
  };
}

/** A generation that has just begun may have no rows yet. */
async function readGeneration(host: Host, runId: string, run: DeskRun): Promise<Folded> {
  for (let tries = 1; tries < maxLooks && !run.isEnded; tries += 1) {
    const folded = await findGeneration(host, runId, run.invocationId);
    if (folded !== undefined) return folded;
    await wait(lookAgainMs, { clock: host.setup.clock });
  }
  const folded = await findGeneration(host, runId, run.invocationId);
  if (folded !== undefined) return folded;
  if (!run.isEnded)
    throw engineError(`The journal of run "${runId}" cannot be read yet`, { retryable: true });
  const message = `The journal of run "${runId}" is gone: Restate keeps it for ${host.options.limits.journalRetentionMs} ms after the end`;
  throw engineError(message, { retryable: false });
}

const maxLooks = 20;
const lookAgainMs = 50;

async function findGeneration(host: Host, runId: string, invocationId: string): Promise<Folded | undefined> {
  const rows = await query(host, runId, [
    `SELECT entry_json FROM sys_journal WHERE id = ${quoted(invocationId)}`,
    `AND entry_type IN (${rowTypes.map(quoted).join(', ')}) ORDER BY index`,
  ]);
  const facts = rows.map((row) => readRow(JSON.parse(String(row['entry_json'])) as unknown));
  return foldJournal(facts.filter((fact) => fact !== undefined));
}

type Folded = NonNullable<ReturnType<typeof foldJournal>>;

async function query({ options }: Host, runId: string, lines: readonly string[]): Promise<readonly Row[]> {
  const deed = `report what is recorded of run "${runId}"`;
  if (options.adminUrl === undefined)
    throw engineError(`Restate could not ${deed}: the engine needs "adminUrl" for it`, { retryable: false });
  const answer = await askRestate(options, {
    base: options.adminUrl,
    path: ['query'],
    method: 'POST',
    headers: { accept: 'application/json' },
    body: { query: lines.join(' ') },
    deed,
  });
  const rows = isRecord(answer) ? answer['rows'] : undefined;
  if (Array.isArray(rows)) return rows as readonly Row[]; // Of Restate's tables.
  throw engineError(`Restate could not ${deed}: its answer holds no rows`, { retryable: false });
}

type Row = Readonly<Record<string, unknown>>;

/** A text of SQL: only its quotes mean something. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
