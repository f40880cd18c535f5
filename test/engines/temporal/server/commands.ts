import { cancelActivity, scheduleActivity } from './activities.ts';
import { append, receive } from './history.ts';
import type { ServerState } from './history.ts';
import { durationIn, inner, textIn } from './model.ts';
import type { Execution, Message } from './model.ts';
import { beginExecution } from './start-execution.ts';

/** Of Temporal's `CommandType`, as far as this engine's workflow gives any. */
const commandTypes = {
  1: { attributes: 'scheduleActivityTaskCommandAttributes', obey: obeyActivity },
  2: { attributes: 'requestCancelActivityTaskCommandAttributes', obey: obeyActivityCancellation },
  3: { attributes: 'startTimerCommandAttributes', obey: obeyTimer },
  4: { attributes: 'completeWorkflowExecutionCommandAttributes', obey: obeyCompletion },
  5: { attributes: 'failWorkflowExecutionCommandAttributes', obey: obeyFailure },
  6: { attributes: 'cancelTimerCommandAttributes', obey: obeyTimerCancellation },
  10: { attributes: 'continueAsNewWorkflowExecutionCommandAttributes', obey: obeyContinuation },
} as const;

interface Obeying {
  readonly command: Message;
  readonly completedId: number;
}

/** Whether it ends the execution. */
export function isClosing({ commandType }: Message): boolean {
  return commandType === 4 || commandType === 5 || commandType === 10;
}

/** Does what the workflow asks for. */
export function obey(state: ServerState, execution: Execution, { command, completedId }: Obeying): void {
  const type = commandTypes[Number(command['commandType']) as keyof typeof commandTypes];
  if (type === undefined) throw new Error(`This server knows no command ${String(command['commandType'])}`);
  type.obey(state, execution, { command: inner(command, type.attributes), completedId });
}

function obeyActivity(state: ServerState, execution: Execution, { command, completedId }: Obeying): void {
  const scheduledId = append(state, execution, {
    type: 'ACTIVITY_TASK_SCHEDULED',
    attributes: () => ({ ...command, workflowTaskCompletedEventId: completedId }),
  });
  scheduleActivity(state, execution, { scheduledId, command });
}

function obeyActivityCancellation(
  state: ServerState,
  execution: Execution,
  { command, completedId }: Obeying,
): void {
  const scheduledEventId = Number(command['scheduledEventId']);
  append(state, execution, {
    type: 'ACTIVITY_TASK_CANCEL_REQUESTED',
    attributes: () => ({ scheduledEventId, workflowTaskCompletedEventId: completedId }),
  });
  cancelActivity(state, execution, scheduledEventId);
}

function obeyTimer(state: ServerState, execution: Execution, { command, completedId }: Obeying): void {
  const timerId = textIn(command, 'timerId');
  const startedId = append(state, execution, {
    type: 'TIMER_STARTED',
    attributes: () => ({ ...command, workflowTaskCompletedEventId: completedId }),
  });
  const fire = (): void => {
    if (!execution.timers.delete(timerId)) return;
    const attributes = { timerId, startedEventId: startedId };
    receive(state, execution, [{ type: 'TIMER_FIRED', attributes: () => attributes }]);
  };
  const timer = setTimeout(fire, durationIn(command, 'startToFireTimeout') ?? 0);
  execution.timers.set(timerId, { startedId, stop: () => clearTimeout(timer) });
}

function obeyTimerCancellation(
  state: ServerState,
  execution: Execution,
  { command, completedId }: Obeying,
): void {
  const timerId = textIn(command, 'timerId');
  const timer = execution.timers.get(timerId);
  timer?.stop();
  execution.timers.delete(timerId);
  append(state, execution, {
    type: 'TIMER_CANCELED',
    attributes: () => ({
      timerId,
      startedEventId: timer?.startedId ?? 0,
      workflowTaskCompletedEventId: completedId,
      identity: 'worker',
    }),
  });
}

function obeyCompletion(state: ServerState, execution: Execution, { command, completedId }: Obeying): void {
  append(state, execution, {
    type: 'WORKFLOW_EXECUTION_COMPLETED',
    attributes: () => ({ result: command['result'], workflowTaskCompletedEventId: completedId }),
  });
  close(execution, 'COMPLETED');
}

function obeyFailure(state: ServerState, execution: Execution, { command, completedId }: Obeying): void {
  append(state, execution, {
    type: 'WORKFLOW_EXECUTION_FAILED',
    attributes: () => ({
      failure: command['failure'],
      retryState: 5,
      workflowTaskCompletedEventId: completedId,
    }),
  });
  close(execution, 'FAILED');
}

function obeyContinuation(state: ServerState, execution: Execution, { command, completedId }: Obeying): void {
  const { workflowId, runId, firstRunId, type, queue } = execution;
  close(execution, 'CONTINUED_AS_NEW');
  const next = beginExecution(state, {
    workflowId,
    type,
    queue,
    input: command['input'],
    header: command['header'],
    requestId: '',
    continued: { runId, firstRunId },
  });
  append(state, execution, {
    type: 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
    attributes: () => ({
      newExecutionRunId: next.runId,
      workflowType: { name: type },
      taskQueue: { name: queue, kind: 1 },
      input: command['input'],
      workflowTaskCompletedEventId: completedId,
      initiator: 1,
    }),
  });
}

/** Nothing of it is under way any more. */
export function close(execution: Execution, status: Execution['status']): void {
  execution.status = status;
  for (const { stop } of execution.timers.values()) stop();
  for (const { stopTimers } of execution.activities.values()) stopTimers();
  execution.task?.stopTimer();
  execution.timers.clear();
  execution.activities.clear();
  execution.buffered.splice(0);
}
