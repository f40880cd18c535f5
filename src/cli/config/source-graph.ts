import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readFileBounded } from './read-file-bounded.ts';
import { contentHash } from './trust-list.ts';

/** One file of a configuration: the one that was found, or one that it imports by a relative path. */
export interface SourceFile {
  /** Absolute, its folder without links. */
  readonly path: string;
  /** Where a link leads: what it imports is looked for from there. */
  readonly realPath: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** All files of a configuration, the one that was found first; or what is wrong with one of them. */
export type SourceGraph =
  | { readonly type: 'read'; readonly files: readonly [SourceFile, ...SourceFile[]] }
  | { readonly type: 'missing' }
  | { readonly type: 'unreadable'; readonly path: string; readonly why: string };

/** A configuration is a page or two; what is larger is none. */
export const maxConfigBytes = 1_000_000;
const maxFiles = 200;

/**
 * Reads a configuration and every file of code or JSON that it names in quotes: all that it imports, and what it starts as a
 * worker or another process. What is imported later is what was read here, never the file again.
 */
export async function readSourceGraph(entry: string): Promise<SourceGraph> {
  const files = new Map<string, SourceFile>();
  const waiting = [entry];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (files.has(next)) continue;
    const isEntry = files.size === 0;
    const read = await readFileBounded(next, maxConfigBytes);
    // Other texts than imports may begin with a dot; only the configuration itself must be a file.
    if (read.type === 'missing' && !isEntry) continue;
    if (read.type === 'missing') return read;
    if (read.type === 'unreadable' && !isEntry && read.why.startsWith('is ')) continue;
    if (read.type === 'unreadable') return { ...read, path: next };
    if (files.size >= maxFiles)
      return { type: 'unreadable', path: entry, why: `imports more than ${maxFiles} files` };
    const realPath = await realpathOr(next);
    files.set(next, { path: next, realPath, bytes: read.bytes, sha256: contentHash(read.bytes) });
    if (isScript(next)) waiting.push(...(await relativesOf(realPath, decodeText(read.bytes) ?? '')));
  }
  const [first, ...others] = files.values();
  return first === undefined ? { type: 'missing' } : { type: 'read', files: [first, ...others] };
}

/** Whether it is code, and not data. */
export function isScript(file: string): boolean {
  return /\.[cm]?[jt]s$/.test(file);
}

/** The text without its byte order mark, or nothing where it is no UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The address under which a file is imported. */
export function urlOf(file: string): string {
  return pathToFileURL(file).href;
}

async function relativesOf(file: string, text: string): Promise<readonly string[]> {
  const found = [...text.matchAll(/(\(\s*)?(["'`])([^"'`\n:]{1,500}\.(?:[cm]?[jt]s|json|sh|py))\2/g)];
  // A name without a dot in front may be meant for a rule: it counts where it is handed to a function, as in `new URL('x.js', …)`.
  const named = found.flatMap(([, call, , name = '']) =>
    call !== undefined || /^\.{1,2}\//.test(name) ? [name] : [],
  );
  const names = [...new Set(named)].slice(0, maxFiles);
  return Promise.all(names.map((name) => realpathOr(path.resolve(path.dirname(file), name))));
}

/** Imports go to where a link leads. */
async function realpathOr(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    return file; // It is not there, or may not be seen: reading it says so.
  }
}
