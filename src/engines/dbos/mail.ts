import { openPool } from './open-pool.ts';
import type { PgDriver } from './sdk.ts';

/** Under which letters to a run are sent to its workflow. Cancellations have their own, so that no heap of signals hides one. */
export const topics = { signal: 'rerail', cancel: 'rerail.cancel' } as const;

/** What lies in the mailboxes of workflows. DBOS reports only the workflow itself, and only by taking it out. */
export interface Mail {
  /**
   * How many letters are not received yet, by workflow; those without one are absent. One that was cancelled in DBOS itself counts
   * as one: DBOS informs the receiver.
   */
  readonly count: (workflowIds: readonly string[]) => Promise<ReadonlyMap<string, Unread>>;
  /** The texts of those letters, the oldest first, which stay where they are. */
  readonly read: (workflowId: string) => Promise<readonly string[]>;
  /** Whether the database answers at all, and can be written. */
  readonly ping: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Letters that lie in a mailbox. */
export interface Unread {
  readonly signals: number;
  readonly cancellations: number;
}

export interface MailOptions {
  readonly driver: PgDriver;
  readonly databaseUrl: string;
  readonly schema: string;
  readonly connectTimeoutMs: number;
}

/** More than this is not looked at in one go; what is left waits for the next. */
const maxMessages = 1000;

/** Opens the mailboxes over connections of our own: at most two. */
export function openMail({ driver, databaseUrl, schema, connectTimeoutMs }: MailOptions): Mail {
  const pool = openPool({
    driver,
    databaseUrl,
    name: 'rerail_dbos',
    max: 2,
    connectTimeoutMs,
    // Later than the caller that waits gives up: he says better what he waited for.
    queryTimeoutMs: 2 * connectTimeoutMs,
  });
  const tables = `"${schema.replaceAll('"', '""')}"`;
  const unread = `topic IN ('${topics.signal}', '${topics.cancel}') AND consumed = false`;
  return {
    count: async (workflowIds) => {
      const { rows } = await pool.query(
        `SELECT destination_uuid AS id, count(*)::int AS letters,
           (count(*) FILTER (WHERE topic = '${topics.cancel}'))::int AS cancellations
         FROM ${tables}.notifications WHERE destination_uuid = ANY($1) AND ${unread} GROUP BY destination_uuid
         UNION ALL
         SELECT workflow_uuid AS id, 1 AS letters, 1 AS cancellations
         FROM ${tables}.workflow_status WHERE workflow_uuid = ANY($1) AND status = 'CANCELLED'`,
        [workflowIds],
      );
      return new Map(rows.map((row) => [String(row['id']), unreadIn(row)]));
    },
    read: async (workflowId) => {
      const { rows } = await pool.query(
        `SELECT message FROM ${tables}.notifications WHERE destination_uuid = $1 AND ${unread}
         ORDER BY created_at_epoch_ms LIMIT ${maxMessages}`,
        [workflowId],
      );
      return rows.map((row) => String(JSON.parse(String(row['message']))));
    },
    ping: async () => {
      const { rows } = await pool.query(`SELECT current_setting('transaction_read_only') AS reads`, []);
      if (rows[0]?.['reads'] !== 'off')
        throw new Error('it can only be read: it is a standby, or was made read-only');
    },
    close: () => pool.end(),
  };
}

function unreadIn(row: Readonly<Record<string, unknown>>): Unread {
  const cancellations = Number(row['cancellations']);
  return { signals: Number(row['letters']) - cancellations, cancellations };
}
