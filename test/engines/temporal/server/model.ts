// What the server keeps of a workflow: its history, and what is under way besides. All that it says of itself is in Temporal's own form.

/** One event of a history, as Temporal writes it. */
export interface HistoryEvent {
  eventId: number;
  readonly eventTime: Timestamp;
  readonly eventType: string;
  readonly taskId: number;
  readonly [attributes: string]: unknown;
}

export interface Timestamp {
  readonly seconds: number;
  readonly nanos: number;
}

/** One execution: a workflow that continues as new has several. */
export interface Execution {
  readonly workflowId: string;
  readonly runId: string;
  readonly firstRunId: string;
  readonly type: string;
  readonly queue: string;
  readonly requestId: string;
  readonly startedAt: Timestamp;
  readonly events: HistoryEvent[];
  historyBytes: number;
  status: 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELED' | 'TERMINATED' | 'CONTINUED_AS_NEW';
  /** Of the worker that has the workflow at hand. */
  sticky: string | undefined;
  /** The last event that a completed task has seen. */
  seenEventId: number;
  task: WorkflowTask | undefined;
  /** What came while a task was under way. */
  readonly buffered: NewEvent[];
  /** By the id of the event that scheduled it. */
  readonly activities: Map<number, Activity>;
  readonly timers: Map<string, Timer>;
  /** Told whenever something has changed. */
  readonly watchers: Set<() => void>;
  readonly signalRequests: Set<string>;
}

/** An event without its place. Its attributes may name events before it. */
export interface NewEvent {
  readonly type: string;
  readonly attributes: (ids: { readonly before: number }) => Readonly<Record<string, unknown>>;
  /** Nothing is to be done about it by itself. */
  readonly isQuiet?: boolean;
}

export interface WorkflowTask {
  readonly scheduledId: number;
  readonly attempt: number;
  startedId: number | undefined;
  stopTimer: () => void;
}

export interface Activity {
  readonly id: string;
  readonly scheduledId: number;
  readonly command: Readonly<Record<string, unknown>>;
  isStarted: boolean;
  isCancelled: boolean;
  heartbeat: () => void;
  stopTimers: () => void;
}

export interface Timer {
  readonly startedId: number;
  readonly stop: () => void;
}

/** What goes over the wire is what Temporal's protocol says; it is looked into by name. */
export type Message = Readonly<Record<string, unknown>>;

/** A member that is a message itself. */
export function inner(message: unknown, name: string): Message {
  const value: unknown = (message as Message | undefined)?.[name];
  return (typeof value === 'object' && value !== null ? value : {}) as Message;
}

export function textIn(message: unknown, name: string): string {
  const value: unknown = (message as Message | undefined)?.[name];
  return typeof value === 'string' ? value : '';
}

/** A duration in milliseconds; nothing where none is set. */
export function durationIn(message: unknown, name: string): number | undefined {
  const { seconds = 0, nanos = 0 } = inner(message, name);
  const ms = Number(seconds) * 1000 + Number(nanos) / 1e6;
  return ms > 0 ? ms : undefined;
}

export function timestamp(ms: number = Date.now()): Timestamp {
  return { seconds: Math.floor(ms / 1000), nanos: Math.round((ms % 1000) * 1e6) };
}
