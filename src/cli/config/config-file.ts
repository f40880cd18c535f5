import path from 'node:path';
import { checkConfig } from './check-config.ts';
import type { ConfigProblem } from './config-problem.ts';
import type { RerailConfig } from './define-config.ts';
import { valuesOf } from './given-value.ts';
import type { GivenValue } from './given-value.ts';
import { importConfig } from './import-config.ts';
import type { ImportOptions } from './import-config.ts';
import { readPositionedJson } from './json-positions.ts';
import { decodeText } from './source-graph.ts';
import type { SourceFile } from './source-graph.ts';

/** The values of a file, or everything that is wrong with it. */
export interface ConfigFile {
  readonly values: readonly GivenValue[];
  readonly problems: readonly ConfigProblem[];
}

export interface ConfigFileOptions extends ImportOptions {
  /** How the file is spoken of: `rerail.config.json`. */
  readonly shown: string;
}

/** Reads a configuration of the files that were read before. The first is run, or parsed where it is JSON. */
export async function readConfigFile(
  files: readonly [SourceFile, ...SourceFile[]],
  options: ConfigFileOptions,
): Promise<ConfigFile> {
  const [entry] = files;
  return entry.path.endsWith('.json') ? readJson(entry, options.shown) : readScript(files, options);
}

function readJson(file: SourceFile, shown: string): ConfigFile {
  const only = (text: string, line?: number): ConfigFile => ({
    values: [],
    problems: [{ place: line === undefined ? shown : `${shown}:${line}`, text }],
  });
  if (hasByteOrderMark(file.bytes)) {
    return only('begins with a byte order mark, which JSON does not allow: save it as UTF-8 without BOM', 1);
  }
  const text = decodeText(file.bytes);
  if (text === undefined) return only('is not text in UTF-8: save it as UTF-8');
  const read = readPositionedJson(text);
  if (read.type === 'broken') {
    return { values: [], problems: [{ place: `${shown}:${read.line}:${read.column}`, text: read.text }] };
  }
  const placeOf = (at: string): string => `${shown}:${lineOf(read.lines, at)}`;
  const duplicates = read.duplicates.map(({ path: at, line, firstLine }) => ({
    place: `${shown}:${line}`,
    text: `"${at}" appears twice; the first is on line ${firstLine}: remove one of them`,
  }));
  return toFile(read.value, { placeOf, folder: path.dirname(file.path), duplicates });
}

/** UTF-8, UTF-16 little and big endian. */
function hasByteOrderMark([first, second, third]: Uint8Array): boolean {
  if (first === 0xef && second === 0xbb && third === 0xbf) return true;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** Of the path itself, or of the nearest thing around it that has a place. */
function lineOf(lines: ReadonlyMap<string, number>, at: string): number {
  let current = at;
  while (current !== '') {
    // Bounded: the path gets shorter each round.
    const line = lines.get(current);
    if (line !== undefined) return line;
    current = current.slice(0, Math.max(0, current.search(/(?:\.[^.[\]]*|\[\d+\])$/)));
  }
  return 1;
}

async function readScript(
  files: readonly [SourceFile, ...SourceFile[]],
  { shown, ...options }: ConfigFileOptions,
): Promise<ConfigFile> {
  const [entry] = files;
  const imported = await importConfig(files, options);
  if (imported.type === 'broken') {
    const name = imported.path === entry.path ? shown : path.basename(imported.path);
    const place = imported.line === undefined ? name : `${name} near line ${imported.line}`;
    return { values: [], problems: [{ place, text: imported.text }] };
  }
  const lines = (decodeText(entry.bytes) ?? '').split('\n');
  const placeOf = (at: string): string => {
    const line = searchLine(lines, at);
    return line === undefined ? shown : `${shown} near line ${line}`;
  };
  return toFile(imported.value, { placeOf, folder: path.dirname(entry.path), duplicates: [] });
}

/** Where the last name of a path stands as a key, after the names before it. It is a guess, and said to be one. */
function searchLine(lines: readonly string[], at: string): number | undefined {
  let from = 0;
  let found: number | undefined;
  for (const name of at.split(/[.[\]]+/).filter((part) => part !== '' && !/^\d+$/.test(part))) {
    const key = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const pattern = new RegExp(String.raw`(?:^|[\s{,'"])${key}['"]?\s*[:,}]`);
    const index = lines.findIndex((line, number) => number >= from && pattern.test(line));
    if (index === -1) break;
    from = index;
    found = index + 1;
  }
  return found;
}

interface Checking {
  readonly placeOf: (path: string) => string;
  readonly folder: string;
  readonly duplicates: readonly ConfigProblem[];
}

function toFile(value: unknown, { placeOf, folder, duplicates }: Checking): ConfigFile {
  const wrong = checkConfig(value).map(({ path: at, text }) => ({ place: placeOf(at), text }));
  const problems = [...duplicates, ...wrong];
  if (problems.length > 0) return { values: [], problems };
  return { values: valuesOf(value as RerailConfig, { placeOf, folder }), problems }; // Checked by the table.
}
