import { mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { redact } from '../../base/redact.ts';
import { writePrivateFile } from '../config/write-private-file.ts';
import { errnoOf } from '../../tools/workspace/workspace-error.ts';

/** What was typed before, across sessions. */
export interface InputHistory {
  /** The oldest first. */
  readonly entries: () => readonly string[];
  /** Keeps a text, without its secrets. What repeats the last one is not kept twice. Rejects where the file cannot be written. */
  readonly add: (text: string) => Promise<void>;
}

const maxEntries = 1000;
const maxEntryCharacters = 10_000;
const maxFileCharacters = 20_000_000;
/** Only its owner reads it. */
const fileMode = 0o600;
const folderMode = 0o700;

/** Reads the history from a file, one JSON text a line. Without a file, or where it cannot be read, it begins empty. */
export async function openHistory(file: string | undefined): Promise<InputHistory> {
  const found = file === undefined ? [] : await readEntries(file);
  // Never changed in place: readers count from its end.
  let entries: readonly string[] = found.slice(-maxEntries);
  if (file !== undefined && found.length > maxEntries) await rewrite(file, entries);
  return {
    entries: () => entries,
    add: async (text) => {
      // What was cut could be half a key, which no longer looks like one: a very long text is not kept at all.
      if (text.trim() === '' || text.length > maxEntryCharacters) return;
      const entry = redact(text);
      if (entry === entries.at(-1)) return;
      entries = [...entries, entry].slice(-maxEntries);
      if (file !== undefined) await append(file, entry);
    },
  };
}

async function readEntries(file: string): Promise<string[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    // To begin without a history is no trouble; a failure to write one is reported when it is written.
    if (errnoOf(error) !== undefined) return [];
    throw error;
  }
  return text.slice(-maxFileCharacters).split('\n').flatMap(readEntry);
}

/** A line that is none of ours is passed over. */
function readEntry(line: string): readonly string[] {
  if (line === '') return [];
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    return []; // Half a line, after a crash.
  }
}

async function append(file: string, entry: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: folderMode });
  const handle = await open(file, 'a', fileMode);
  try {
    await handle.chmod(fileMode);
    await handle.appendFile(`${JSON.stringify(entry)}\n`);
  } finally {
    await handle.close();
  }
}

async function rewrite(file: string, entries: readonly string[]): Promise<void> {
  try {
    await writePrivateFile(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  } catch (error) {
    // It only stays longer than it need be: nothing is lost.
    if (errnoOf(error) === undefined) throw error;
  }
}
