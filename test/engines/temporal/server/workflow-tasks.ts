import { append, dispatch, findExecution, flush, scheduleTask, tellWatchers, until } from './history.ts';
import type { ServerState, WorkflowJob } from './history.ts';
import { isClosing, obey } from './commands.ts';
import { inner, textIn, timestamp } from './model.ts';
import type { Execution, Message, WorkflowTask } from './model.ts';
import { RpcError } from './rpc.ts';
import type { Handler } from './rpc.ts';
import { readToken, writeToken } from './tokens.ts';

/** What workers ask about workflows. */
export function workflowTaskHandlers(state: ServerState): Readonly<Record<string, Handler>> {
  return {
    PollWorkflowTaskQueue: async (request, { signal }) => {
      const queue = textIn(inner(request, 'taskQueue'), 'name');
      while (!signal.aborted) {
        const job = await state.workflowTasks.poll(queue, signal);
        if (job === undefined) return {};
        if (signal.aborted) {
          state.workflowTasks.put(queue, job);
          break;
        }
        const handed = job.type === 'query' ? handQuery(job, queue) : handTask(state, job, queue);
        if (handed !== undefined) return handed;
      }
      return {};
    },
    RespondWorkflowTaskCompleted: (request) => complete(state, request),
    RespondWorkflowTaskFailed: (request) => {
      const { execution, task } = taskOf(state, request);
      giveUp(state, execution, {
        type: 'WORKFLOW_TASK_FAILED',
        task,
        attributes: { cause: request['cause'], failure: request['failure'], identity: request['identity'] },
      });
      return {};
    },
    QueryWorkflow: (request, { signal }) => query(state, request, signal),
    RespondQueryTaskCompleted: (request) => {
      const id = Buffer.from(request['taskToken'] as Uint8Array).toString(); // Written below.
      state.answers.get(id)?.(request);
      return {};
    },
  };
}

function handTask(
  state: ServerState,
  { execution, scheduledId }: Extract<WorkflowJob, { type: 'task' }>,
  queue: string,
): Message | undefined {
  const { task } = execution;
  if (task?.scheduledId !== scheduledId || task.startedId !== undefined) return undefined;
  const startedId = append(state, execution, {
    type: 'WORKFLOW_TASK_STARTED',
    attributes: () => ({
      scheduledEventId: scheduledId,
      identity: 'worker',
      requestId: 'r',
      historySizeBytes: execution.historyBytes,
    }),
  });
  task.startedId = startedId;
  const lost = (): void =>
    giveUp(state, execution, { type: 'WORKFLOW_TASK_TIMED_OUT', task, attributes: { timeoutType: 1 } });
  const timer = setTimeout(lost, state.taskTimeoutMs);
  task.stopTimer = () => clearTimeout(timer);
  return {
    taskToken: writeToken(execution, startedId),
    ...aboutOf(execution),
    startedEventId: startedId,
    attempt: task.attempt,
    history: { events: historyFor(execution, queue) },
  };
}

function aboutOf({ workflowId, runId, type, queue, seenEventId }: Execution): Message {
  return {
    workflowExecutionTaskQueue: { name: queue, kind: 1 },
    scheduledTime: timestamp(),
    startedTime: timestamp(),
    workflowExecution: { workflowId, runId },
    workflowType: { name: type },
    previousStartedEventId: seenEventId,
  };
}

/** The worker that has the workflow at hand is told only what is new. */
function historyFor({ events, queue: all, seenEventId }: Execution, queue: string): Execution['events'] {
  return queue === all ? events : events.slice(seenEventId);
}

function taskOf(
  state: ServerState,
  request: Message,
): { readonly execution: Execution; readonly task: WorkflowTask } {
  const { execution, eventId } = readToken(state, request);
  const task = execution?.task;
  if (execution === undefined || task === undefined || task.startedId !== eventId)
    throw new RpcError('notFound', 'Workflow task not found');
  return { execution, task };
}

function complete(state: ServerState, request: Message): Message {
  const { execution, task } = taskOf(state, request);
  const commands = (request['commands'] ?? []) as readonly Message[]; // A list of the protocol.
  if (commands.some(isClosing) && execution.buffered.length > 0) {
    giveUp(state, execution, { type: 'WORKFLOW_TASK_FAILED', task, attributes: { cause: 1 } });
    throw new RpcError('invalidArgument', 'UnhandledCommand');
  }
  const large = commands.find((command) => sizeOf(command) > state.maxPayloadBytes);
  if (large !== undefined) {
    giveUp(state, execution, { type: 'WORKFLOW_TASK_FAILED', task, attributes: { cause: 2 } });
    throw new RpcError('invalidArgument', 'A payload of a command exceeds the size limit');
  }
  task.stopTimer();
  const { scheduledId, startedId = 0 } = task;
  const completedId = append(state, execution, {
    type: 'WORKFLOW_TASK_COMPLETED',
    attributes: () => ({
      scheduledEventId: scheduledId,
      startedEventId: startedId,
      identity: request['identity'],
      sdkMetadata: request['sdkMetadata'],
      meteringMetadata: request['meteringMetadata'],
    }),
  });
  execution.seenEventId = startedId;
  const sticky = textIn(inner(inner(request, 'stickyAttributes'), 'workerTaskQueue'), 'name');
  execution.sticky = sticky === '' ? undefined : sticky;
  for (const command of commands) obey(state, execution, { command, completedId });
  execution.task = undefined;
  flush(state, execution);
  if (request['forceCreateNewWorkflowTask'] === true) scheduleTask(state, execution);
  tellWatchers(execution);
  return {};
}

function sizeOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(sizeOf));
}

interface Fruitless {
  readonly type: 'WORKFLOW_TASK_FAILED' | 'WORKFLOW_TASK_TIMED_OUT';
  readonly task: WorkflowTask;
  readonly attributes: Message;
}

const longestPauseMs = 1000;

/** The task came to nothing: it is handed to any worker after a while. */
function giveUp(state: ServerState, execution: Execution, { type, task, attributes }: Fruitless): void {
  if (execution.task !== task || execution.status !== 'RUNNING') return;
  task.stopTimer();
  const { scheduledId, startedId } = task;
  append(state, execution, {
    type,
    attributes: () => ({ ...attributes, scheduledEventId: scheduledId, startedEventId: startedId }),
  });
  execution.sticky = undefined;
  execution.task = undefined;
  flush(state, execution);
  tellWatchers(execution);
  const attempt = task.attempt + 1;
  const pauseMs = task.attempt === 1 ? 0 : Math.min(longestPauseMs, 50 * 2 ** attempt);
  setTimeout(() => scheduleTask(state, execution, attempt), pauseMs);
}

let queries = 0;

/** Asks the workflow where it stands, once it stands still. */
async function query(state: ServerState, request: Message, signal: AbortSignal): Promise<Message> {
  const execution = findExecution(state, inner(request, 'execution'));
  if (execution === undefined) throw new RpcError('notFound', 'There is no such workflow');
  if ((execution.task?.attempt ?? 1) >= 3)
    throw new RpcError(
      'failedPrecondition',
      'Unable to query workflow due to Workflow Task in failed state.',
    );
  const isStill = (): boolean =>
    execution.seenEventId > 0 && (execution.task === undefined || execution.status !== 'RUNNING');
  await until(execution, isStill, signal);
  queries += 1;
  const id = `query-${queries}`;
  const answer = await new Promise<Message>((resolve) => {
    state.answers.set(id, resolve);
    signal.addEventListener('abort', () => resolve({}), { once: true });
    dispatch(state, { type: 'query', execution, id, query: inner(request, 'query') });
  });
  state.answers.delete(id);
  if (answer['completedType'] === 1) return { queryResult: answer['queryResult'] };
  throw new RpcError('invalidArgument', textIn(answer, 'errorMessage') || 'The query was not answered');
}

function handQuery(
  { execution, id, query: asked }: Extract<WorkflowJob, { type: 'query' }>,
  queue: string,
): Message {
  return {
    taskToken: Buffer.from(id),
    ...aboutOf(execution),
    startedEventId: 0,
    attempt: 1,
    query: asked,
    history: { events: queue === execution.queue ? execution.events : [] },
  };
}
