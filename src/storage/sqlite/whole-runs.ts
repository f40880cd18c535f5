import type { Restored, WholeRun, WholeSignal } from '../../model/store/whole-run.ts';
import { checkOf, decodeText, encodeText } from '../common/stored-text.ts';
import { chainOf } from '../common/whole-chain.ts';
import { checkHead } from './head-check.ts';
import { readHeads } from './heads.ts';
import { change, getRows } from './held.ts';
import type { Connection, Held, Transaction } from './held.ts';
import { nextEpoch } from './leases.ts';
import { readEvents } from './run-events.ts';
import { findRecord, hashTexts, insertRecord, toRunRow } from './run-record.ts';
import { findTexts, writeTexts } from './run-texts.ts';
import { blank, writeEvents } from './run-writes.ts';
import { insertSql, readSignal, signalNames } from './signals.ts';

/** All that is kept of a run. */
export function readWhole(held: Held, connection: Connection, runId: string): WholeRun | undefined {
  const record = findRecord(connection, runId);
  checkHead(held, connection, { runId, record });
  if (record === undefined) return undefined;
  const { clock } = held.settings;
  const key = [encodeText(runId)];
  return {
    row: toRunRow(record, findTexts(connection, record), Math.round(clock.wallMs())),
    events: readEvents(held, connection, { runId, range: {} }),
    signals: getRows(connection, allSignalsSql, key).map((row): WholeSignal => ({
      ...readSignal(row),
      isTaken: row['is_taken'] === 1,
    })),
    blobs: getRows(connection, 'SELECT hash FROM run_blobs WHERE run_id = ? ORDER BY hash', key).map((row) =>
      decodeText(String(row['hash'])),
    ),
  };
}

/** Writes a run as it was elsewhere. */
export function restoreRun(transaction: Transaction, whole: WholeRun): Restored {
  const { held, connection } = transaction;
  const { row } = whole;
  const { runId, text, tools, headSeq, headHash } = row;
  if (findRecord(connection, runId) !== undefined) return 'exists';
  const events = chainOf(whole);
  readHeads(held.heads);
  checkHead(held, connection, { runId, record: undefined });
  const { sessionId = null, code = null, reason = null, resumeAtMs = null, costUsd = null } = row;
  insertRecord(connection, {
    ...blank,
    ...row,
    sessionId,
    code,
    reason,
    resumeAtMs,
    costUsd,
    textHash: hashTexts({ text, tools }),
    owner: null,
    epoch: nextEpoch(connection),
    leaseUntilMs: 0,
    leaseMs: 0,
    process: '',
  });
  writeTexts(connection, runId, { text, tools });
  writeEvents(connection, runId, events);
  for (const [index, signal] of whole.signals.entries()) insertSignal(connection, runId, { index, signal });
  if (headSeq > 0) transaction.facts.push({ type: 'h', runId, seq: headSeq, hash: headHash });
  return 'restored';
}

interface Placed {
  readonly index: number;
  readonly signal: WholeSignal;
}

function insertSignal(connection: Connection, runId: string, { index, signal }: Placed): void {
  const { id, name, payload, atMs, isTaken } = signal;
  const texts = [encodeText(id), encodeText(name), JSON.stringify(payload)];
  const values = [encodeText(runId), index + 1, ...texts, atMs, isTaken ? 1 : 0];
  change(connection, insertSql, [...values, checkOf(values)]);
}

const allSignalsSql = `SELECT ${signalNames}, row_check FROM signals WHERE run_id = ? ORDER BY place`;
