import { randomUUID } from 'node:crypto';
import { append, scheduleTask } from './history.ts';
import type { ServerState } from './history.ts';
import { timestamp } from './model.ts';
import type { Execution } from './model.ts';

export interface Beginning {
  readonly workflowId: string;
  readonly type: string;
  readonly queue: string;
  readonly input: unknown;
  readonly header: unknown;
  readonly requestId: string;
  readonly continued?: { readonly runId: string; readonly firstRunId: string };
}

/** Begins an execution: the first of a workflow, one after an end, or one that continues another. */
export function beginExecution(state: ServerState, beginning: Beginning): Execution {
  const { workflowId, type, queue, input, header, requestId, continued } = beginning;
  const runId = randomUUID();
  const firstRunId = continued?.firstRunId ?? runId;
  const execution: Execution = {
    workflowId,
    runId,
    firstRunId,
    type,
    queue,
    requestId,
    startedAt: timestamp(),
    events: [],
    historyBytes: 0,
    status: 'RUNNING',
    sticky: undefined,
    seenEventId: 0,
    task: undefined,
    buffered: [],
    activities: new Map(),
    timers: new Map(),
    watchers: new Set(),
    signalRequests: new Set(),
  };
  state.executions.set(workflowId, [...(state.executions.get(workflowId) ?? []), execution]);
  append(state, execution, {
    type: 'WORKFLOW_EXECUTION_STARTED',
    attributes: () => ({
      workflowType: { name: type },
      taskQueue: { name: queue, kind: 1 },
      input,
      header,
      workflowTaskTimeout: { seconds: Math.ceil(state.taskTimeoutMs / 1000) },
      originalExecutionRunId: runId,
      firstExecutionRunId: firstRunId,
      identity: 'client',
      attempt: 1,
      workflowId,
      ...(continued === undefined ? {} : { continuedExecutionRunId: continued.runId, initiator: 1 }),
    }),
  });
  scheduleTask(state, execution);
  return execution;
}
