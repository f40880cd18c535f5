// Table: what Postgres, the driver and the network say, and what it means for a store.

import type { FailureCode } from '../../errors/codes.ts';

/** One way in which a database fails. */
export interface Trouble {
  readonly code: Extract<FailureCode, `STORAGE_${string}`>;
  readonly what: (name: string) => string;
  /** The step to take. */
  readonly hint: string;
  readonly retryable?: boolean;
  /** It may pass by itself within seconds: what is known not to have happened is tried again for a while. */
  readonly mayPass?: true;
  /** The connection is not used again. */
  readonly endsConnection?: true;
}

const unreachable: Trouble = {
  code: 'STORAGE_IO',
  what: (name) => `The database "${name}" cannot be reached`,
  hint: 'Check that the server runs and that this machine can reach it over the network. The next request opens a new connection.',
  retryable: true,
  mayPass: true,
  endsConnection: true,
};

const conflict: Trouble = {
  code: 'STORAGE_LOCKED',
  what: (name) => `Others were changing the same rows of "${name}" at the same time`,
  hint: 'It was tried several times. Try later; if it persists, look in pg_stat_activity for the holder of the locks.',
  retryable: true,
  mayPass: true,
};

const lockWait: Trouble = {
  code: 'STORAGE_LOCKED',
  what: (name) => `Another connection holds a lock of "${name}" for too long`,
  hint: 'Look in pg_stat_activity for a transaction that was left open, and end it.',
  retryable: true,
};

const slow: Trouble = {
  code: 'STORAGE_LOCKED',
  what: (name) => `A statement took too long in "${name}" and was ended`,
  hint: 'The server is overloaded or waits for a lock: look in pg_stat_activity. Raise statementTimeoutMs where the work is right and only slow.',
  retryable: true,
};

const crowded: Trouble = {
  code: 'STORAGE_LOCKED',
  what: (name) => `The server of "${name}" has no connection left`,
  hint: 'Lower maxConnections of the stores that share the server, or raise its max_connections.',
  retryable: true,
  mayPass: true,
  endsConnection: true,
};

const readOnly: Trouble = {
  code: 'STORAGE_READ_ONLY',
  what: (name) => `"${name}" can only be read: it is a standby, or was made read-only`,
  hint: 'Point the store at the primary. After a failover this passes as soon as the address leads to the new one.',
  mayPass: true,
  // The next one may lead to the server that has become the primary.
  endsConnection: true,
};

const forbidden: Trouble = {
  code: 'STORAGE_READ_ONLY',
  what: (name) => `The user of the store may not do this in "${name}"`,
  hint: 'Grant the user CREATE on the database for the first start, and all rights on the schema and its tables afterwards.',
};

const noDatabase: Trouble = {
  code: 'STORAGE_NOT_FOUND',
  what: (name) => `There is no database "${name}"`,
  hint: 'Create it with: createdb NAME, or name another one in the address.',
};

const refused: Trouble = {
  code: 'STORAGE_NOT_FOUND',
  what: (name) => `"${name}" cannot be opened: the server refuses this user`,
  hint: 'Check user and password, and the entry for this address in pg_hba.conf.',
};

const noServer: Trouble = {
  code: 'STORAGE_NOT_FOUND',
  what: (name) => `There is no server for "${name}"`,
  hint: 'Check the name of the host in the address.',
};

const noEncryption: Trouble = {
  code: 'STORAGE_NOT_FOUND',
  what: (name) => `No connection to "${name}" that both sides trust`,
  hint: 'Check "ssl" of the address: the server must offer it, and its certificate must be known here.',
};

const full: Trouble = {
  code: 'STORAGE_FULL',
  what: (name) => `The disk of "${name}" is full`,
  hint: 'Free some space on the server, or prune runs that have ended, then continue.',
};

const gone: Trouble = {
  code: 'STORAGE_LOST',
  what: (name) => `The tables of "${name}" are gone`,
  hint: 'They or the schema were dropped, or the database was replaced by another one. Restore a copy; Rerail creates nothing new in its place.',
};

const damaged: Trouble = {
  code: 'STORAGE_CORRUPT',
  what: (name) => `"${name}" is damaged`,
  hint: 'Look at the log of the server. Keep a copy of the data as it is, then restore a backup.',
};

const shared: Trouble = {
  code: 'STORAGE_IO',
  what: (name) => `A pooler between here and "${name}" mixes up connections`,
  hint: 'Connect to Postgres itself, or let the pooler work by sessions: a store keeps prepared statements and settings in its connections.',
};

/** What is not named below. */
export const unknownTrouble: Trouble = {
  code: 'STORAGE_IO',
  what: (name) => `The database "${name}" refused a statement`,
  hint: 'Look up the number in the list of SQLSTATE codes, and at the log of the server.',
};

/** The same of the driver. */
export const driverTrouble: Trouble = {
  code: 'STORAGE_IO',
  what: (name) => `The driver "pg" failed with the database "${name}"`,
  hint: 'Read its message; the next request opens a new connection.',
  endsConnection: true,
};

/** By SQLSTATE, or by its first two characters. */
export const stateTroubles: ReadonlyMap<string, Trouble> = new Map([
  ['08', unreachable],
  ['57P01', unreachable],
  ['57P02', unreachable],
  ['57P03', unreachable],
  ['57P05', unreachable],
  ['25P03', unreachable],
  ['25P04', unreachable],
  ['58', { ...unknownTrouble, what: (name) => `The server of "${name}" could not read or write its files` }],
  // It is unknown whether it was committed: as where the connection is lost at that moment.
  ['40003', unreachable],
  ['40001', conflict],
  ['40P01', conflict],
  ['55P03', lockWait],
  ['57014', slow],
  ['53300', crowded],
  ['53100', full],
  ['25006', readOnly],
  ['42501', forbidden],
  ['3D000', noDatabase],
  ['28P01', refused],
  ['28000', refused],
  ['42P01', gone],
  ['42703', gone],
  ['3F000', gone],
  ['XX001', damaged],
  ['XX002', damaged],
  ['23', damaged],
  ['26000', shared],
  ['42P05', shared],
]);

/** By the code of Node's errors. */
export const nodeTroubles: ReadonlyMap<string, Trouble> = new Map([
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'ECONNABORTED',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'EHOSTDOWN',
    'ENETUNREACH',
    'ENETDOWN',
    'EADDRNOTAVAIL',
    'EAI_AGAIN',
    'ENOENT',
    'EMFILE',
  ].map((code) => [code, unreachable] as const),
  ['ENOTFOUND', noServer],
  ...[
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ].map((code) => [code, noEncryption] as const),
]);

/** The driver's own sentences, which have no code. */
export const words: readonly { readonly wording: RegExp; readonly trouble: Trouble }[] = [
  // "Connection terminated unexpectedly", "Connection terminated due to connection timeout"
  { wording: /^Connection terminated/, trouble: unreachable },
  // "timeout expired", "timeout exceeded when trying to connect"
  { wording: /^timeout ex/, trouble: unreachable },
  // "Client has encountered a connection error and is not queryable", "Client was closed and is not queryable"
  { wording: /not queryable/, trouble: unreachable },
  // "The server does not support SSL connections"
  { wording: /SSL/, trouble: noEncryption },
  // "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string"
  { wording: /^SASL/, trouble: refused },
];
