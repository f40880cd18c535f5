import { loadPeer } from '../../base/load-peer.ts';
import type { Peer } from '../../base/load-peer.ts';
import { configError } from '../../errors/config-error.ts';

/** What a column holds. Large integers never occur: whatever is kept fits a double. */
export type SqlValue = string | number | boolean | null;

/** What a statement is given. */
export type SqlParameter = SqlValue | readonly SqlValue[];

/** One row, by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A statement with its values. One with a name is prepared once for each connection. */
export interface Query {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly SqlParameter[];
}

/** The part of a client of `pg` that is used here. */
export interface PgClient {
  readonly connect: () => Promise<unknown>;
  readonly query: (
    query: Query,
  ) => Promise<{ readonly rows: readonly SqlRow[]; readonly rowCount: number | null }>;
  /** Says goodbye; a connection on which something is under way is cut. */
  readonly end: () => Promise<void>;
  /** Whether it keeps the process alive. */
  readonly ref: () => void;
  readonly unref: () => void;
  readonly on: (event: 'error' | 'end', listener: () => void) => unknown;
  /** For a server that does not even answer a goodbye. */
  readonly connection?: { readonly stream?: { readonly destroy: () => unknown } };
}

/** Makes a client; nothing is opened yet. */
export type MakeClient = (config: Readonly<Record<string, unknown>>) => PgClient;

/** The driver, looked for when it is first needed. */
export function loadDriver(given?: unknown): MakeClient {
  return chooseDriver(loadPeer('pg', { given, install: 'npm install pg' }));
}

/** The clients of what the look for the package has given. */
export function chooseDriver(peer: Peer): MakeClient {
  const Client = peer.type === 'loaded' ? clientIn(peer.module) : undefined;
  if (Client !== undefined) return (config) => new Client({ ...config, types });
  const why = peer.type === 'missing' ? peer.message : '"pg" has no Client';
  throw configError(`The postgres store needs the driver "pg": ${why}`, { hint: 'Run: npm install pg' });
}

type ClientMaker = new (config: Readonly<Record<string, unknown>>) => PgClient;

function clientIn(module: unknown): ClientMaker | undefined {
  if (typeof module !== 'object' || module === null) return undefined;
  if ('Client' in module && typeof module.Client === 'function') return module.Client as ClientMaker; // By its documentation.
  return 'default' in module ? clientIn(module.default) : undefined;
}

/** Only what our tables hold, whatever is set for the whole process. */
const types = {
  getTypeParser: (type: number) => parsers.get(type) ?? String,
};

const parsers: ReadonlyMap<number, (text: string) => SqlValue> = new Map<number, (text: string) => SqlValue>([
  [16, (text) => text === 't'],
  [20, Number],
  [21, Number],
  [23, Number],
  [701, Number],
  [1700, Number],
]);
