import { textIn, timestamp } from './model.ts';
import type { Activity, Execution, Message, NewEvent } from './model.ts';
import type { TaskQueues } from './queues.ts';

/** The whole server, but for its wire. */
export interface ServerState {
  /** By workflow id, the latest last. */
  readonly executions: Map<string, Execution[]>;
  readonly workflowTasks: TaskQueues<WorkflowJob>;
  readonly activityTasks: TaskQueues<{ readonly execution: Execution; readonly activity: Activity }>;
  readonly answers: Map<string, (answer: Message) => void>;
  readonly taskTimeoutMs: number;
  /** What is refused as too long for one payload. */
  readonly maxPayloadBytes: number;
  taskId: number;
}

/** What a worker is handed for a workflow. */
export type WorkflowJob =
  | { readonly type: 'task'; readonly execution: Execution; readonly scheduledId: number }
  | { readonly type: 'query'; readonly execution: Execution; readonly id: string; readonly query: Message };

/** The execution that a request names: the latest, unless it says which. */
export function findExecution({ executions }: ServerState, named: Message): Execution | undefined {
  const runId = textIn(named, 'runId');
  const all = executions.get(textIn(named, 'workflowId')) ?? [];
  return runId === '' ? all.at(-1) : all.find((each) => each.runId === runId);
}

/** Writes one event. */
export function append(state: ServerState, execution: Execution, event: NewEvent): number {
  const eventId = execution.events.length + 1;
  const attributes = event.attributes({ before: eventId - 1 });
  state.taskId += 1;
  execution.events.push({
    eventId,
    eventTime: timestamp(),
    eventType: `EVENT_TYPE_${event.type}`,
    taskId: state.taskId,
    [attributesName(event.type)]: attributes,
  });
  execution.historyBytes += bytesOf(attributes) + 40;
  return eventId;
}

/** Takes in what happened outside of the workflow: now, or once the task that is under way is over. */
export function receive(state: ServerState, execution: Execution, events: readonly NewEvent[]): void {
  if (execution.status !== 'RUNNING') return;
  if (execution.task?.startedId !== undefined) return void execution.buffered.push(...events);
  for (const event of events) append(state, execution, event);
  if (events.some(({ isQuiet }) => isQuiet !== true)) scheduleTask(state, execution);
  tellWatchers(execution);
}

/** Appends what came while the task was under way. */
export function flush(state: ServerState, execution: Execution): void {
  const events = execution.buffered.splice(0);
  for (const event of events) append(state, execution, event);
  if (events.some(({ isQuiet }) => isQuiet !== true)) scheduleTask(state, execution);
}

const stickyPatienceMs = 300;

/** The workflow is to be looked at by a worker: at best by the one that has it at hand. */
export function scheduleTask(state: ServerState, execution: Execution, attempt = 1): void {
  if (execution.task !== undefined || execution.status !== 'RUNNING') return;
  const scheduledId = append(state, execution, {
    type: 'WORKFLOW_TASK_SCHEDULED',
    attributes: () => ({
      taskQueue: { name: execution.sticky ?? execution.queue, kind: execution.sticky === undefined ? 1 : 2 },
      startToCloseTimeout: { seconds: Math.ceil(state.taskTimeoutMs / 1000) },
      attempt,
    }),
  });
  execution.task = { scheduledId, attempt, startedId: undefined, stopTimer: () => undefined };
  dispatch(state, { type: 'task', execution, scheduledId });
}

/** To the worker that knows the workflow while that one asks for tasks; else to any. One that is busy is waited for, as Temporal does. */
export function dispatch(state: ServerState, job: WorkflowJob): void {
  const { workflowTasks } = state;
  const { sticky, queue } = job.execution;
  if (sticky === undefined) return workflowTasks.put(queue, job);
  const isAsked = workflowTasks.hasPoller(sticky);
  workflowTasks.put(sticky, job);
  if (!isAsked) expectTaken(state, job, sticky);
}

function expectTaken(state: ServerState, job: WorkflowJob, sticky: string): void {
  setTimeout(() => {
    const { execution } = job;
    if (isTaken(state, job)) return;
    if (state.workflowTasks.wasPolled(sticky, stickyPatienceMs)) return expectTaken(state, job, sticky);
    if (execution.sticky === sticky) execution.sticky = undefined;
    // Whoever asks for the other copy finds it taken.
    state.workflowTasks.put(execution.queue, job);
  }, stickyPatienceMs);
}

function isTaken(state: ServerState, job: WorkflowJob): boolean {
  if (job.type === 'query') return !state.answers.has(job.id);
  const { task } = job.execution;
  return task?.scheduledId !== job.scheduledId || task.startedId !== undefined;
}

export function tellWatchers({ watchers }: Execution): void {
  for (const tell of watchers) tell();
}

/** Waits for something about an execution. */
export function until(execution: Execution, isSo: () => boolean, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isSo() && !signal.aborted) return;
      execution.watchers.delete(look);
      resolve();
    };
    execution.watchers.add(look);
    signal.addEventListener('abort', look, { once: true });
    look();
  });
}

/** `ACTIVITY_TASK_SCHEDULED` has `activityTaskScheduledEventAttributes`. */
function attributesName(type: string): string {
  const words = type.toLowerCase().split('_');
  const [first = '', ...rest] = words;
  return `${[first, ...rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('')}EventAttributes`;
}

function bytesOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 2;
  return Object.values(value).reduce((sum: number, each) => sum + bytesOf(each), 4);
}
