import type { Database } from './driver.ts';

/** One step from a schema to the next: its statements run in one transaction with the new number. */
export interface Migration {
  readonly version: number;
  readonly statements: readonly (string | ((database: Database) => void))[];
}

/** In the header of the file, so that no process takes the database of another program for ours: "Rrl1". */
export const applicationId = 0x52_72_6c_31;

/** Every step there ever was, in order. A released one is never changed: a user's file was made by it. */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: [
      'CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
      // The latest first: what is ordered by must be one ascending pair, so that the next page is found by its place.
      `CREATE TABLE runs (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        agent TEXT NOT NULL,
        session_id TEXT,
        created_at INTEGER NOT NULL,
        sort_key INTEGER NOT NULL,
        status TEXT NOT NULL,
        updated_at INTEGER NOT NULL,
        head_seq INTEGER NOT NULL,
        head_hash TEXT NOT NULL,
        generation_seq INTEGER NOT NULL,
        crashes INTEGER NOT NULL,
        code TEXT,
        reason TEXT,
        resume_at INTEGER,
        turns INTEGER NOT NULL,
        cost_usd REAL,
        text_hash TEXT NOT NULL,
        owner TEXT,
        epoch INTEGER NOT NULL,
        lease_until INTEGER NOT NULL,
        lease_ms INTEGER NOT NULL,
        process TEXT NOT NULL,
        row_check TEXT NOT NULL
      )`,
      'CREATE INDEX runs_by_time ON runs (sort_key, run_id)',
      `CREATE INDEX runs_unfinished ON runs (status) WHERE status IN ('running', 'suspended')`,
      'CREATE INDEX runs_by_owner ON runs (owner) WHERE owner IS NOT NULL',
      'CREATE INDEX runs_by_session ON runs (session_id, sort_key, run_id) WHERE session_id IS NOT NULL',
      // Apart from the rows, which are written with every lease: these change seldom and may be long.
      `CREATE TABLE run_texts (
        run_id TEXT NOT NULL PRIMARY KEY,
        text TEXT NOT NULL,
        search TEXT NOT NULL,
        tools TEXT NOT NULL
      ) WITHOUT ROWID`,
      // In the order of their coming: what many runs write at once is on few pages, which halves the work of a commit.
      `CREATE TABLE events (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        type TEXT NOT NULL,
        body TEXT NOT NULL,
        hash TEXT NOT NULL,
        UNIQUE (run_id, seq)
      )`,
      `CREATE TABLE signals (
        run_id TEXT NOT NULL,
        place INTEGER NOT NULL,
        id TEXT NOT NULL,
        name TEXT NOT NULL,
        payload TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        is_taken INTEGER NOT NULL,
        row_check TEXT NOT NULL,
        PRIMARY KEY (run_id, id)
      ) WITHOUT ROWID`,
      'CREATE INDEX signals_by_place ON signals (run_id, place)',
      'CREATE INDEX signals_waiting ON signals (run_id, place) WHERE is_taken = 0',
      'CREATE TABLE blobs (hash TEXT NOT NULL PRIMARY KEY, content TEXT NOT NULL)',
      `CREATE TABLE run_blobs (
        run_id TEXT NOT NULL,
        hash TEXT NOT NULL,
        PRIMARY KEY (run_id, hash)
      ) WITHOUT ROWID`,
      'CREATE INDEX run_blobs_by_hash ON run_blobs (hash)',
      `CREATE TABLE sessions (
        session_id TEXT NOT NULL PRIMARY KEY,
        created_at INTEGER NOT NULL,
        sort_key INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        messages INTEGER NOT NULL,
        head_hash TEXT NOT NULL,
        row_check TEXT NOT NULL
      ) WITHOUT ROWID`,
      'CREATE INDEX sessions_by_time ON sessions (sort_key, session_id)',
      `CREATE TABLE session_messages (
        session_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        body TEXT NOT NULL,
        hash TEXT NOT NULL,
        PRIMARY KEY (session_id, seq)
      ) WITHOUT ROWID`,
      `CREATE TABLE session_runs (
        session_id TEXT NOT NULL,
        run_id TEXT NOT NULL,
        PRIMARY KEY (session_id, run_id)
      ) WITHOUT ROWID`,
      `INSERT INTO meta (name, value) VALUES ('store_id', lower(hex(randomblob(16)))), ('epochs', '0')`,
    ],
  },
];

/** The tables whose inner order a check goes through one by one. */
export const tables = [
  'meta',
  'runs',
  'run_texts',
  'events',
  'signals',
  'blobs',
  'run_blobs',
  'sessions',
  'session_messages',
  'session_runs',
] as const;
