import { receive } from './history.ts';
import type { ServerState } from './history.ts';
import { durationIn, inner, textIn, timestamp } from './model.ts';
import type { Activity, Execution, Message, NewEvent } from './model.ts';
import { RpcError } from './rpc.ts';
import type { Handler } from './rpc.ts';
import { readToken, writeToken } from './tokens.ts';

/** Puts an activity into its queue. Nobody tries it twice: what times out is over. */
export function scheduleActivity(
  state: ServerState,
  execution: Execution,
  { scheduledId, command }: { readonly scheduledId: number; readonly command: Message },
): void {
  const activity: Activity = {
    id: textIn(command, 'activityId'),
    scheduledId,
    command,
    isStarted: false,
    isCancelled: false,
    heartbeat: () => undefined,
    stopTimers: () => undefined,
  };
  execution.activities.set(scheduledId, activity);
  const ms = durationIn(command, 'scheduleToStartTimeout');
  if (ms !== undefined) {
    const timer = setTimeout(() => timeOut(state, execution, { activity, type: 2 }), ms);
    activity.stopTimers = () => clearTimeout(timer);
  }
  state.activityTasks.put(textIn(inner(command, 'taskQueue'), 'name'), { execution, activity });
}

/** Asks for its end: at once where nobody has begun it, else its worker hears of it with the next heartbeat. */
export function cancelActivity(state: ServerState, execution: Execution, scheduledId: number): void {
  const activity = execution.activities.get(scheduledId);
  if (activity === undefined) return;
  activity.isCancelled = true;
  if (!activity.isStarted) end(state, execution, { activity, event: 'CANCELED', attributes: {} });
}

interface Timing {
  readonly activity: Activity;
  /** Of Temporal's `TimeoutType`. */
  readonly type: 1 | 2 | 4;
}

const timeoutNames = { 1: 'StartToClose', 2: 'ScheduleToStart', 4: 'Heartbeat' } as const;

function timeOut(state: ServerState, execution: Execution, { activity, type }: Timing): void {
  end(state, execution, {
    activity,
    event: 'TIMED_OUT',
    attributes: {
      failure: {
        message: `activity ${timeoutNames[type]} timeout`,
        source: 'Server',
        timeoutFailureInfo: { timeoutType: type },
      },
      retryState: 5,
    },
  });
}

interface Ending {
  readonly activity: Activity;
  readonly event: 'COMPLETED' | 'FAILED' | 'CANCELED' | 'TIMED_OUT';
  readonly attributes: Message;
}

function end(state: ServerState, execution: Execution, { activity, event, attributes }: Ending): void {
  if (!execution.activities.delete(activity.scheduledId)) return;
  activity.stopTimers();
  const { scheduledId, isStarted } = activity;
  const started: NewEvent = {
    type: 'ACTIVITY_TASK_STARTED',
    isQuiet: true,
    attributes: () => ({ scheduledEventId: scheduledId, identity: 'worker', requestId: 'r', attempt: 1 }),
  };
  const ended: NewEvent = {
    type: `ACTIVITY_TASK_${event}`,
    attributes: ({ before }) => ({
      ...attributes,
      scheduledEventId: scheduledId,
      startedEventId: isStarted ? before : 0,
    }),
  };
  receive(state, execution, isStarted ? [started, ended] : [ended]);
}

function begin(state: ServerState, execution: Execution, activity: Activity): Message {
  activity.stopTimers();
  activity.isStarted = true;
  const { command, scheduledId } = activity;
  const wholeMs = durationIn(command, 'startToCloseTimeout');
  const silentMs = durationIn(command, 'heartbeatTimeout');
  const whole = setTimeout(() => timeOut(state, execution, { activity, type: 1 }), wholeMs);
  let silent: NodeJS.Timeout | undefined;
  activity.heartbeat = () => {
    clearTimeout(silent);
    if (silentMs !== undefined)
      silent = setTimeout(() => timeOut(state, execution, { activity, type: 4 }), silentMs);
  };
  activity.stopTimers = () => {
    clearTimeout(whole);
    clearTimeout(silent);
  };
  activity.heartbeat();
  const now = timestamp();
  return {
    taskToken: writeToken(execution, scheduledId),
    workflowNamespace: 'default',
    workflowType: { name: execution.type },
    workflowExecution: { workflowId: execution.workflowId, runId: execution.runId },
    activityType: command['activityType'],
    activityId: activity.id,
    input: command['input'],
    header: command['header'],
    scheduledTime: now,
    currentAttemptScheduledTime: now,
    startedTime: now,
    attempt: 1,
    startToCloseTimeout: command['startToCloseTimeout'],
    scheduleToCloseTimeout: command['scheduleToCloseTimeout'] ?? { seconds: 0, nanos: 0 },
    heartbeatTimeout: command['heartbeatTimeout'],
    retryPolicy: command['retryPolicy'],
  };
}

/** What workers ask about activities. */
export function activityHandlers(state: ServerState): Readonly<Record<string, Handler>> {
  const find = (request: Message): { readonly execution: Execution; readonly activity: Activity } => {
    const { execution, eventId } = readToken(state, request);
    const activity = execution?.activities.get(eventId);
    if (execution === undefined || activity === undefined || execution.status !== 'RUNNING')
      throw new RpcError('notFound', 'There is no such activity: it is over, or its workflow is');
    return { execution, activity };
  };
  const ending = (event: Ending['event'], pick: (request: Message) => Message): Handler => {
    return (request) => {
      const { execution, activity } = find(request);
      end(state, execution, { activity, event, attributes: pick(request) });
      return {};
    };
  };
  return {
    PollActivityTaskQueue: async (request, { signal }) => {
      const queue = textIn(inner(request, 'taskQueue'), 'name');
      while (!signal.aborted) {
        const task = await state.activityTasks.poll(queue, signal);
        if (task === undefined) return {};
        const { execution, activity } = task;
        // One that is over by now is left out.
        if (!execution.activities.has(activity.scheduledId) || activity.isStarted) continue;
        if (signal.aborted) state.activityTasks.put(queue, task);
        else return begin(state, execution, activity);
      }
      return {};
    },
    RespondActivityTaskCompleted: ending('COMPLETED', ({ result }) => ({ result })),
    RespondActivityTaskFailed: ending('FAILED', ({ failure }) => ({ failure, retryState: 5 })),
    RespondActivityTaskCanceled: ending('CANCELED', ({ details }) => ({ details })),
    RecordActivityTaskHeartbeat: (request) => {
      const { activity } = find(request);
      activity.heartbeat();
      return { cancelRequested: activity.isCancelled };
    },
  };
}
