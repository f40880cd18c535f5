import { isRecord } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { RunEnd } from '../../runtime/record/journal.ts';
import { isNotFound } from './failures.ts';
import type { BrokenDetails, CarriedResult, LeftBehind } from './messages.ts';
import { brokenType } from './names.ts';
import type { WorkflowClient, WorkflowHandle } from './sdk.ts';

/** The latest execution of a run's workflow. */
export interface Head {
  readonly runId: string;
  /** Of this execution, whatever comes after it. */
  readonly handle: WorkflowHandle;
  readonly isLive: boolean;
  /** Which attempt at the task that is due this is: a task that fails is handed out again and again. */
  readonly attempt: number;
}

/** Finds it; nothing where there is none. */
export async function findHead(
  client: WorkflowClient,
  workflowId: string,
  runId: string,
): Promise<Head | undefined> {
  try {
    const { runId: executionId, status, raw } = await client.getHandle(workflowId).describe();
    return {
      runId,
      handle: client.getHandle(workflowId, executionId),
      // One that continues as new is about to have a later one.
      isLive: status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW',
      attempt: raw.pendingWorkflowTask?.attempt ?? 1,
    };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** How it ended, with what it left to one that begins after it. */
export interface Ended {
  readonly end: RunEnd;
  /** Not there where Temporal, and not the run, has ended it. */
  readonly left?: LeftBehind;
}

/** What an execution that is over has come to. */
export async function endOf({ handle, runId }: Head): Promise<Ended> {
  let result: unknown;
  try {
    result = await handle.result();
  } catch (error) {
    return brokenBy(runId, error);
  }
  const carried = result as CarriedResult; // What our workflow returns.
  return { end: { type: 'ended', result: carried.result }, left: carried };
}

function brokenBy(runId: string, error: unknown): Ended {
  if (!(error instanceof Error) || error.name !== 'WorkflowFailedError') throw error;
  const { cause } = error;
  const details: unknown =
    isRecord(cause) || cause instanceof Error ? Reflect.get(cause, 'details') : undefined;
  const type: unknown = cause instanceof Error ? Reflect.get(cause, 'type') : undefined;
  const [first] = Array.isArray(details) ? (details as readonly unknown[]) : [];
  if (type === brokenType && isRecord(first)) {
    const left = first as unknown as BrokenDetails; // What our workflow leaves behind.
    return { end: { type: 'broken', failure: left.failure }, left };
  }
  return { end: { type: 'broken', failure: endedOutside(runId, cause) } };
}

/** It was ended in Temporal itself, or by Temporal. */
function endedOutside(runId: string, cause: unknown): Failure {
  const name = cause instanceof Error ? cause.name : '';
  const why = cause instanceof Error ? cause.message : String(cause);
  const isWish = name === 'TerminatedFailure' || name === 'CancelledFailure';
  return createFailure(isWish ? 'CANCELLED' : 'ACTIVITY_FAILED', {
    origin: 'durable',
    message: `Run "${runId}" was ended by Temporal, not by its own code (${name}): ${why}`,
    hint: 'Its history holds what it did until then, and the reason. A run of this id stays ended: start a new one under another id.',
    context: { runId },
  });
}

/** So often a task is tried before that is reported: a worker that dies at it counts too. */
const suspiciousAttempt = 3;

/** The run stands still because its task fails wherever it is tried; nothing where it does not. */
export async function stuckFailure(head: Head): Promise<Failure | undefined> {
  if (head.attempt < suspiciousAttempt) return undefined;
  const { events } = await head.handle.fetchHistory();
  const failed = (events ?? []).findLast((event) => failedTaskIn(event) !== undefined);
  const attributes = failedTaskIn(failed);
  if (attributes === undefined) return undefined;
  const { failure } = attributes;
  const said =
    isRecord(failure) && typeof failure['message'] === 'string' ? failure['message'] : 'no reason given';
  return createFailure('INVALID_STATE', {
    origin: 'durable',
    message: `Run "${head.runId}" cannot continue: its workflow does something else than its history holds, or fails itself. Temporal says: ${said}`,
    hint: 'Run it with the version of this package that started it: it then continues automatically. Or terminate it in Temporal and start a new run under another id.',
    context: { runId: head.runId },
  });
}

function failedTaskIn(event: unknown): Readonly<Record<string, unknown>> | undefined {
  const attributes = isRecord(event) ? event['workflowTaskFailedEventAttributes'] : undefined;
  return isRecord(attributes) ? attributes : undefined;
}
