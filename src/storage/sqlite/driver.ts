import { loadPeer } from '../../base/load-peer.ts';
import type { Peer } from '../../base/load-peer.ts';
import { configError } from '../../errors/config-error.ts';

/** What a column holds. Large integers never occur: whatever is kept fits a double. */
export type SqlValue = string | number | null;

/** One row, by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** The part of `StatementSync` that both drivers have, on every version that is supported. */
export interface Statement {
  readonly run: (...values: readonly SqlValue[]) => { readonly changes: number | bigint };
  readonly get: (...values: readonly SqlValue[]) => unknown;
  readonly all: (...values: readonly SqlValue[]) => readonly unknown[];
  readonly iterate: (...values: readonly SqlValue[]) => Iterable<unknown>;
}

/** The same of `DatabaseSync`. */
export interface Database {
  readonly exec: (sql: string) => void;
  readonly prepare: (sql: string) => Statement;
  readonly close: () => void;
}

/** Opens a file. A read-only database is neither made nor changed. */
export type OpenFile = (path: string, options?: { readonly readOnly?: boolean }) => Database;

/** SQLite as this machine has it: Node's own where there is one, else the package. Looked for when it is first needed. */
export function loadDriver(): OpenFile {
  return chooseDriver(loadBuiltin(), () => loadPeer(packageName, { install: `npm install ${packageName}` }));
}

/**
 * Node 22 writes to stderr that its SQLite is experimental, the first time anybody asks for it. What is used of it here is the
 * same in 24 and tested there; that one word is left out, and no other.
 */
function loadBuiltin(): unknown {
  const emitWarning: unknown = Reflect.get(process, 'emitWarning');
  const isAboutSqlite = (warning: unknown, type: unknown): boolean =>
    type === 'ExperimentalWarning' && String(warning).includes('SQLite');
  if (typeof emitWarning !== 'function') return process.getBuiltinModule('node:sqlite');
  process.emitWarning = (...given: readonly unknown[]) => {
    if (!isAboutSqlite(given[0], given[1])) Reflect.apply(emitWarning, process, given);
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    Reflect.set(process, 'emitWarning', emitWarning);
  }
}

/** Node's own module, or else what the look for the package has given. */
export function chooseDriver(builtin: unknown, findPeer: () => Peer): OpenFile {
  if (isDriver(builtin)) return opening(builtin);
  const peer = findPeer();
  if (peer.type === 'loaded' && isDriver(peer.module)) return opening(peer.module);
  const why = peer.type === 'missing' ? peer.message : `"${packageName}" has no DatabaseSync`;
  throw configError(
    `The sqlite store needs SQLite, and Node ${process.versions.node} brings none (22.13 and later do): ${why}`,
    { hint: `Run: npm install ${packageName}   or use Node 22.13 or later.` },
  );
}

const packageName = '@photostructure/sqlite';

interface DriverModule {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => Database;
}

function isDriver(module: unknown): module is DriverModule {
  return typeof module === 'object' && module !== null && 'DatabaseSync' in module;
}

function opening({ DatabaseSync }: DriverModule): OpenFile {
  return (path, { readOnly = false } = {}) => new DatabaseSync(path, { readOnly });
}
