/** One step from a schema to the next: its statements run in one transaction with the new number. */
export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
}

/** Every step there ever was, in order. A released one is never changed: a user's database was made by it. */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: [
      // Ids are compared by their bytes, so that pages and ranges are the same in every locale. Room is left in each page, so that
      // a run that comes one event further is written beside its old row, and no index is touched.
      `CREATE TABLE @.runs (
        run_id text COLLATE "C" PRIMARY KEY,
        number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        agent text COLLATE "C" NOT NULL,
        session_id text COLLATE "C",
        created_at bigint NOT NULL,
        sort_key bigint NOT NULL,
        status text NOT NULL,
        updated_at bigint NOT NULL,
        head_seq bigint NOT NULL,
        head_hash text NOT NULL,
        generation_seq bigint NOT NULL,
        crashes bigint NOT NULL,
        code text,
        reason text,
        resume_at double precision,
        turns bigint NOT NULL,
        cost_usd double precision,
        owner text COLLATE "C",
        epoch bigint NOT NULL,
        lease_until bigint NOT NULL,
        lease_ms bigint NOT NULL,
        process text NOT NULL
      ) WITH (fillfactor = 60)`,
      'CREATE INDEX runs_by_time ON @.runs (sort_key, run_id)',
      `CREATE INDEX runs_unfinished ON @.runs (status) WHERE status IN ('running', 'suspended')`,
      'CREATE INDEX runs_by_owner ON @.runs (owner) WHERE owner IS NOT NULL',
      'CREATE INDEX runs_by_session ON @.runs (session_id, sort_key, run_id) WHERE session_id IS NOT NULL',
      // Of the whole store, so that a run that was removed and made again never meets an old lease again.
      'CREATE SEQUENCE @.epochs',
      // Apart from the rows, which are written with every event: these change seldom and may be long.
      `CREATE TABLE @.run_texts (
        run_id text COLLATE "C" PRIMARY KEY,
        text text NOT NULL,
        search text NOT NULL,
        tools text NOT NULL
      )`,
      `CREATE TABLE @.events (
        run_id text COLLATE "C" NOT NULL,
        seq bigint NOT NULL,
        at_ms bigint NOT NULL,
        type text NOT NULL,
        body text NOT NULL,
        hash text NOT NULL,
        PRIMARY KEY (run_id, seq)
      )`,
      `CREATE TABLE @.signals (
        run_id text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        place bigint GENERATED ALWAYS AS IDENTITY,
        name text NOT NULL,
        payload text NOT NULL,
        at_ms bigint NOT NULL,
        is_taken boolean NOT NULL,
        writer text NOT NULL,
        PRIMARY KEY (run_id, id)
      )`,
      'CREATE INDEX signals_waiting ON @.signals (run_id, place) WHERE NOT is_taken',
      'CREATE TABLE @.blobs (hash text COLLATE "C" PRIMARY KEY, content text NOT NULL)',
      `CREATE TABLE @.run_blobs (
        run_id text COLLATE "C" NOT NULL,
        hash text COLLATE "C" NOT NULL,
        PRIMARY KEY (run_id, hash)
      )`,
      'CREATE INDEX run_blobs_by_hash ON @.run_blobs (hash)',
      `CREATE TABLE @.sessions (
        session_id text COLLATE "C" PRIMARY KEY,
        created_at bigint NOT NULL,
        sort_key bigint NOT NULL,
        updated_at bigint NOT NULL,
        messages bigint NOT NULL,
        head_hash text NOT NULL
      )`,
      'CREATE INDEX sessions_by_time ON @.sessions (sort_key, session_id)',
      `CREATE TABLE @.session_messages (
        session_id text COLLATE "C" NOT NULL,
        seq bigint NOT NULL,
        at_ms bigint NOT NULL,
        body text NOT NULL,
        hash text NOT NULL,
        PRIMARY KEY (session_id, seq)
      )`,
      `CREATE TABLE @.session_runs (
        session_id text COLLATE "C" NOT NULL,
        run_id text COLLATE "C" NOT NULL,
        PRIMARY KEY (session_id, run_id)
      )`,
    ],
  },
];

/** The latest number that this version knows. */
export const latestVersion: number = migrations.at(-1)?.version ?? 0;
