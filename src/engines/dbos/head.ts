import { createFailure } from '../../errors/failure.ts';
import type { RunStatus } from '../../runtime/record/durable.ts';
import { outside } from './carried-run.ts';
import type { AgentHost } from './carried-run.ts';
import { readNotice } from './notice.ts';
import { overBy, runAttributeOf } from './order.ts';
import type { Returned } from './order.ts';
import type { WorkflowRow } from './sdk.ts';

/** The latest generation of a run. */
export interface Head {
  readonly runId: string;
  readonly generation: number;
  readonly row: WorkflowRow;
  /** What it came to; absent while it is under way. */
  readonly returned?: Returned;
}

/** Two generations may begin in the same millisecond, by which DBOS sorts. */
const generationsToLookAt = 4;

/** Finds the latest generation of a run, wherever it is carried. */
export async function findHead(host: AgentHost, runId: string): Promise<Head | undefined> {
  const rows = await outside(() =>
    host.dbos.listWorkflows({
      attributes: runAttributeOf({ application: host.application, agent: host.setup.name, runId }),
      // Whatever executor has begun it: each is an application of its own for DBOS, see `launch.ts`.
      applicationName: [],
      sortDesc: true,
      limit: generationsToLookAt,
      loadInput: false,
    }),
  );
  const [latest] = rows.toSorted((one, other) => generationOf(other) - generationOf(one));
  if (latest === undefined) return undefined;
  const head = { runId, generation: generationOf(latest), row: latest };
  const returned = returnedBy(latest, runId);
  return returned === undefined ? head : { ...head, returned };
}

function generationOf({ attributes }: WorkflowRow): number {
  return Number(attributes?.['rerailGeneration'] ?? 0);
}

function returnedBy({ status, output, error, workflowID }: WorkflowRow, runId: string): Returned | undefined {
  if (status === 'SUCCESS') return JSON.parse(String(output)) as Returned; // What the workflow gave back.
  if (status === 'ERROR') return returnedIn(error) ?? givenUp(workflowID, String(error));
  if (status === 'CANCELLED')
    return overBy(
      createFailure('CANCELLED', {
        origin: 'durable',
        message: `Run "${runId}" was cancelled in DBOS itself (workflow "${workflowID}")`,
      }),
    );
  if (status === 'MAX_RECOVERY_ATTEMPTS_EXCEEDED') return givenUp(workflowID, 'it was restarted too often');
  return undefined;
}

function returnedIn(error: unknown): Returned | undefined {
  const text: unknown = error instanceof Object ? Reflect.get(error, 'rerail') : undefined;
  return typeof text === 'string' ? (JSON.parse(text) as Returned) : undefined;
}

function givenUp(workflowId: string, reason: string): Returned {
  const message = `DBOS ended the workflow "${workflowId}": ${reason}`;
  return overBy(createFailure('ACTIVITY_FAILED', { origin: 'durable', message }));
}

/** Whether it continues by itself. */
export function isLive({ returned }: Head): boolean {
  return returned?.type !== 'over';
}

/** What is known of a run that is not carried here. */
export async function statusOf(host: AgentHost, head: Head | undefined): Promise<RunStatus> {
  if (head === undefined) return { type: 'unknown' };
  const { returned, row, generation } = head;
  if (returned?.type === 'over')
    return returned.end.type === 'ended' ? { ...returned.end, generation } : returned.end;
  // The next generation is about to appear.
  if (returned !== undefined) return { type: 'running' };
  const { waiting, announced } = await readNotice(host, row.workflowID);
  const said = announced === undefined ? {} : { announced };
  return waiting === undefined ? { type: 'running', ...said } : { type: 'waiting', signal: waiting, ...said };
}
