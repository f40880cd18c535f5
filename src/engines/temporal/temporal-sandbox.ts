import * as temporal from '@temporalio/workflow';
import { assert } from '../../base/assert.ts';
import { isRecord } from '../../base/json.ts';
import type { EffectReply, EffectRequest, SignalPayload } from './messages.ts';
import { activityType, brokenType, cancelName, journalName, signalName, statusName } from './names.ts';
import type { Cancellable, EffectEnding, Sandbox, Scheduling } from './sandbox.ts';

/** Temporal's own sandbox. To be made where the root scope is the current one: its cancellation is the run's. */
export function createTemporalSandbox(): Sandbox {
  const root = temporal.CancellationScope.current();
  const sinks = temporal.proxySinks();
  /** One for each activity that is under way at the same time. */
  const idle: EffectScope[] = [];
  return {
    perform: (request, scheduling, onEnd) => {
      const scope = idle.pop() ?? openScope();
      const leave = (ending: EffectEnding): void => {
        // What was cancelled stays so.
        if (!scope.isCancelled) idle.push(scope);
        onEnd(ending);
      };
      scope
        .enter(() => schedule(request, scheduling))
        .then(
          (reply) => leave({ type: 'replied', reply: reply as EffectReply }), // What our worker answers.
          (error: unknown) => leave(endingOf(error)),
        );
      return () => {
        scope.isCancelled = true;
        scope.cancel();
      };
    },
    sleep: (delayMs) => within(() => temporal.sleep(delayMs)),
    listen: ({ onSignal, onCancel, status, journal }) => {
      temporal.setHandler(temporal.defineSignal(signalName), (signal: SignalPayload) => onSignal(signal));
      temporal.setHandler(temporal.defineSignal(cancelName), (reason: string) => onCancel(reason));
      temporal.setHandler(temporal.defineQuery(statusName), () => status());
      temporal.setHandler(temporal.defineQuery(journalName), (from: number) => journal(from));
      root.cancelRequested.catch(() => onCancel('cancelled in Temporal'));
    },
    tell: (news) => sinks['rerail']?.['tell']?.(news),
    continueAsNew: (begin) => temporal.continueAsNew(begin),
    broken: (details) =>
      temporal.ApplicationFailure.create({
        message: details.failure.message,
        type: brokenType,
        nonRetryable: true,
        details: [details],
      }),
    history: () => {
      const { historyLength, historySize } = temporal.workflowInfo();
      return { events: historyLength, bytes: historySize };
    },
    // Of the sandbox: the time of the workflow task.
    nowMs: () => Date.now(),
  };
}

/** By which one activity is cancelled by itself. The next one takes it over: a new one costs several promises. */
interface EffectScope {
  readonly enter: <Value>(work: () => Value) => Value;
  readonly cancel: () => void;
  isCancelled: boolean;
}

function openScope(): EffectScope {
  const scope = new temporal.CancellationScope({ cancellable: true });
  let enter: EffectScope['enter'] | undefined;
  // It is called at once. Code that enters by a snapshot makes no promise, other than by `run`.
  void scope.run(async () => {
    enter = temporal.AsyncLocalStorage.snapshot();
  });
  assert(enter !== undefined, 'A Temporal scope did not start at once');
  return { enter, cancel: () => scope.cancel(), isCancelled: false };
}

function schedule(request: EffectRequest, scheduling: Scheduling): Promise<unknown> {
  const { id, queue, startWithinMs, timeoutMs, heartbeatMs } = scheduling;
  const perform = temporal.proxyActivities({
    activityId: id,
    ...(queue === undefined ? {} : { taskQueue: queue }),
    ...(startWithinMs === undefined ? {} : { scheduleToStartTimeout: startWithinMs }),
    startToCloseTimeout: timeoutMs,
    heartbeatTimeout: heartbeatMs,
    cancellationType: temporal.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    // Retry is the run's own: each attempt is its own activity.
    retry: { maximumAttempts: 1 },
  })[activityType];
  assert(perform !== undefined, 'Temporal gives a function for every name of an activity');
  try {
    return perform(request);
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
}

/** In a scope of its own, so that each thing is cancelled by itself. */
function within<Value>(work: () => Promise<Value>): Cancellable<Value> {
  const scope = new temporal.CancellationScope({ cancellable: true });
  return { promise: scope.run(work), cancel: () => scope.cancel() };
}

/** Read by names and not by classes: the bundle may hold another copy of them. */
function endingOf(error: unknown): EffectEnding {
  const cause: unknown = isRecord(error) || error instanceof Error ? Reflect.get(error, 'cause') : undefined;
  const names = [error, cause].map((each) => (each instanceof Error ? each.name : ''));
  if (names.includes('CancelledFailure')) return { type: 'cancelled' };
  const why = cause instanceof Error ? cause.message : String(error);
  if (names[1] !== 'TimeoutFailure') return { type: 'refused', why };
  const timeout: unknown = Reflect.get(cause as object, 'timeoutType'); // It has a name, so it is an object.
  return timeout === 'SCHEDULE_TO_START'
    ? { type: 'unstarted' }
    : { type: 'lost', why: `${String(timeout)}: ${why}` };
}
