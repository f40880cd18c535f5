import { activityHandlers } from './activities.ts';
import { close } from './commands.ts';
import { append, findExecution, receive, tellWatchers, until } from './history.ts';
import type { ServerState } from './history.ts';
import { inner, textIn, timestamp } from './model.ts';
import type { Execution, HistoryEvent, Message } from './model.ts';
import { createQueues } from './queues.ts';
import { RpcError, serveRpc } from './rpc.ts';
import type { Handler } from './rpc.ts';
import { beginExecution } from './start-execution.ts';
import { workflowTaskHandlers } from './workflow-tasks.ts';

/**
 * Temporal's server as far as this engine meets it, in memory: the real client and the real worker talk to it over the wire. It writes
 * histories as Temporal does, but it is not Temporal: what only a real one can show is tried where `TEMPORAL_ADDRESS` is given.
 */
export interface SimulatedServer {
  readonly address: string;
  /** Of the latest execution, in the form that the replayer takes; of all of them, the oldest first. */
  readonly historiesOf: (workflowId: string) => readonly History[];
  /** Somebody ends it by hand. */
  readonly terminate: (workflowId: string) => void;
  /** As long as this is set, no verb of a host is answered. */
  readonly hold: (isHeld: boolean) => void;
  /** As if it were killed: every connection breaks, and nobody listens; what it has written is still there when it resumes. */
  readonly stop: () => Promise<void>;
  readonly resume: () => Promise<void>;
  /** Changes what a history says its workflow was begun with. */
  readonly rewrite: (workflowId: string, change: (begin: string) => string) => void;
  readonly close: () => void;
}

export interface History {
  readonly events: readonly HistoryEvent[];
}

export interface ServerOptions {
  readonly taskTimeoutMs?: number;
}

/** Starts one on a port of this machine. */
export async function startServer(folder: string, options: ServerOptions = {}): Promise<SimulatedServer> {
  const state: ServerState = {
    executions: new Map(),
    workflowTasks: createQueues(),
    activityTasks: createQueues(),
    answers: new Map(),
    taskTimeoutMs: options.taskTimeoutMs ?? 10_000,
    maxPayloadBytes: 2 * 1024 * 1024,
    taskId: 1_000_000,
  };
  let isHeld = false;
  const handlers = { ...hostHandlers(state), ...workflowTaskHandlers(state), ...activityHandlers(state) };
  const held = Object.entries(handlers).map(([name, handler]): readonly [string, Handler] => [
    name,
    (request, call) => (isHeld && hostVerbs.has(name) ? whenAborted(call.signal) : handler(request, call)),
  ]);
  let rpc = await serveRpc(folder, Object.fromEntries(held));
  const { address } = rpc;
  return {
    address,
    historiesOf: (workflowId) =>
      (state.executions.get(workflowId) ?? []).map(({ events }) => ({ events: structuredClone(events) })),
    terminate: (workflowId) => terminate(state, workflowId),
    hold: (next) => {
      isHeld = next;
    },
    stop: async () => rpc.close(),
    resume: async () => {
      rpc = await serveRpc(folder, Object.fromEntries(held), address);
    },
    rewrite: (workflowId, change) => {
      const payload = beginIn(state.executions.get(workflowId)?.at(-1)?.events[0]);
      payload.data = Buffer.from(change(Buffer.from(payload.data).toString()));
    },
    close: () => {
      for (const all of state.executions.values()) for (const each of all) close(each, 'TERMINATED');
      state.workflowTasks.close();
      state.activityTasks.close();
      rpc.close();
    },
  };
}

const hostVerbs: ReadonlySet<string> = new Set([
  'SignalWorkflowExecution',
  'DescribeWorkflowExecution',
  'StartWorkflowExecution',
  'QueryWorkflow',
]);

function beginIn(event: HistoryEvent | undefined): { data: Uint8Array } {
  const input = inner(inner(event, 'workflowExecutionStartedEventAttributes'), 'input');
  const [payload] = input['payloads'] as readonly { data: Uint8Array }[]; // A workflow has one argument.
  if (payload === undefined) throw new Error('The workflow was begun with nothing');
  return payload;
}

function whenAborted(signal: AbortSignal): Promise<Message> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve({}), { once: true }));
}

function terminate(state: ServerState, workflowId: string): void {
  const execution = findExecution(state, { workflowId });
  if (execution === undefined) return;
  append(state, execution, {
    type: 'WORKFLOW_EXECUTION_TERMINATED',
    attributes: () => ({ reason: 'by hand', identity: 'somebody' }),
  });
  close(execution, 'TERMINATED');
  tellWatchers(execution);
}

/** Of Temporal's `WorkflowExecutionStatus`. */
const statuses = { RUNNING: 1, COMPLETED: 2, FAILED: 3, CANCELED: 4, TERMINATED: 5, CONTINUED_AS_NEW: 6 };

/** What clients ask. */
function hostHandlers(state: ServerState): Readonly<Record<string, Handler>> {
  return {
    GetSystemInfo: () => ({
      serverVersion: '1.99.0',
      capabilities: {
        signalAndQueryHeader: true,
        internalErrorDifferentiation: true,
        activityFailureIncludeHeartbeat: true,
        encodedFailureAttributes: true,
        sdkMetadata: true,
      },
    }),
    DescribeNamespace: (request) => ({ namespaceInfo: { name: textIn(request, 'namespace'), state: 1 } }),
    ShutdownWorker: () => ({}),
    StartWorkflowExecution: (request) => start(state, request),
    SignalWorkflowExecution: (request) => {
      const execution = liveOne(state, inner(request, 'workflowExecution'));
      const id = textIn(request, 'requestId');
      if (execution.signalRequests.has(id)) return {};
      execution.signalRequests.add(id);
      const { signalName, input, header, identity } = request;
      const attributes = { signalName, input, header, identity };
      receive(state, execution, [{ type: 'WORKFLOW_EXECUTION_SIGNALED', attributes: () => attributes }]);
      return {};
    },
    RequestCancelWorkflowExecution: (request) => {
      const execution = liveOne(state, inner(request, 'workflowExecution'));
      const type = 'WORKFLOW_EXECUTION_CANCEL_REQUESTED';
      receive(state, execution, [{ type, attributes: () => ({ cause: request['reason'] }) }]);
      return {};
    },
    DescribeWorkflowExecution: (request) => describe(findOrThrow(state, inner(request, 'execution'))),
    GetWorkflowExecutionHistory: async (request, { signal }) => {
      const execution = findOrThrow(state, inner(request, 'execution'));
      const onlyClose = request['historyEventFilterType'] === 2;
      if (request['waitNewEvent'] === true && onlyClose)
        await until(execution, () => execution.status !== 'RUNNING', signal);
      return { history: { events: onlyClose ? execution.events.slice(-1) : execution.events } };
    },
  };
}

function findOrThrow(state: ServerState, named: Message): Execution {
  const execution = findExecution(state, named);
  if (execution === undefined)
    throw new RpcError('notFound', `workflow not found for ID: ${textIn(named, 'workflowId')}`);
  return execution;
}

function liveOne(state: ServerState, named: Message): Execution {
  const execution = findOrThrow(state, named);
  if (execution.status === 'RUNNING') return execution;
  throw new RpcError('notFound', 'workflow execution already completed');
}

function start(state: ServerState, request: Message): Message {
  const [workflowId, requestId] = [textIn(request, 'workflowId'), textIn(request, 'requestId')];
  const latest = findExecution(state, { workflowId });
  if (latest !== undefined && latest.requestId === requestId) return { runId: latest.runId, started: true };
  if (latest?.status === 'RUNNING') {
    if (request['workflowIdConflictPolicy'] === 2) return { runId: latest.runId, started: false };
    throw new RpcError('alreadyExists', 'Workflow execution is already running');
  }
  if (latest !== undefined && request['workflowIdReusePolicy'] === 3)
    throw new RpcError('alreadyExists', 'Workflow execution already finished');
  const { runId } = beginExecution(state, {
    workflowId,
    requestId,
    type: textIn(inner(request, 'workflowType'), 'name'),
    queue: textIn(inner(request, 'taskQueue'), 'name'),
    input: request['input'],
    header: request['header'],
  });
  return { runId, started: true };
}

function describe(execution: Execution): Message {
  const { workflowId, runId, type, queue, startedAt, status, events, historyBytes, task } = execution;
  return {
    executionConfig: { taskQueue: { name: queue, kind: 1 } },
    workflowExecutionInfo: {
      execution: { workflowId, runId },
      type: { name: type },
      startTime: startedAt,
      ...(status === 'RUNNING' ? {} : { closeTime: timestamp() }),
      status: statuses[status],
      historyLength: events.length,
      executionTime: startedAt,
      memo: {},
      searchAttributes: {},
      taskQueue: queue,
      historySizeBytes: historyBytes,
    },
    ...(task === undefined ? {} : { pendingWorkflowTask: { state: 1, attempt: task.attempt } }),
  };
}
