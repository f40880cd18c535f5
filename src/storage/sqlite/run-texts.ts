import type { RowChange } from '../../model/store/store.ts';
import { encodeText } from '../common/stored-text.ts';
import { change, getRow } from './held.ts';
import type { Connection } from './held.ts';
import { readTexts } from './run-record.ts';
import type { RunRecord, RunTexts } from './run-record.ts';

/** The texts of a run, checked. */
export function findTexts(connection: Connection, record: RunRecord): RunTexts {
  const row = getRow(connection, 'SELECT text, search, tools FROM run_texts WHERE run_id = ?', [
    encodeText(record.runId),
  ]);
  return readTexts(row ?? { text: null }, record);
}

/** The texts after a change, or nothing where it does not touch them. */
export function newTexts(connection: Connection, before: RunRecord, row: RowChange): RunTexts | undefined {
  const { text, tools } = row;
  if (text === undefined && tools === undefined) return undefined;
  if (text !== undefined && tools !== undefined) return { text, tools };
  return changeTexts(findTexts(connection, before), row);
}

export function changeTexts(before: RunTexts, row: RowChange | undefined): RunTexts {
  return { text: row?.text ?? before.text, tools: row?.tools ?? before.tools };
}

export function writeTexts(connection: Connection, runId: string, { text, tools }: RunTexts): void {
  change(connection, writeSql, [
    encodeText(runId),
    encodeText(text),
    encodeText(text.toLowerCase()),
    JSON.stringify(tools),
  ]);
}

const writeSql = 'INSERT OR REPLACE INTO run_texts (run_id, text, search, tools) VALUES (?, ?, ?, ?)';
