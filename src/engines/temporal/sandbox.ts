import type {
  Begin,
  BrokenDetails,
  CarriedStatus,
  EffectReply,
  EffectRequest,
  JournalPage,
  News,
  SignalPayload,
} from './messages.ts';

/** What the workflow needs of Temporal, so that the same code runs in its sandbox and against a simulated one. */
export interface Sandbox {
  /** Schedules the activity, with one attempt. `onEnd` is called once and later; gives what cancels it until then. */
  readonly perform: (
    request: EffectRequest,
    scheduling: Scheduling,
    onEnd: (ending: EffectEnding) => void,
  ) => () => void;
  readonly sleep: (delayMs: number) => Cancellable<void>;
  readonly listen: (handlers: Handlers) => void;
  readonly tell: (news: News) => void;
  /** Never settles in a way that anybody sees. */
  readonly continueAsNew: (begin: Begin) => Promise<never>;
  readonly broken: (details: BrokenDetails) => Error;
  readonly history: () => { readonly events: number; readonly bytes: number };
  readonly nowMs: () => number;
}

export interface Scheduling {
  /** Compared on a replay: it names position, effect and input. */
  readonly id: string;
  /** Of the worker that knows the run; any worker's, unless it is given. */
  readonly queue?: string;
  readonly startWithinMs?: number;
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
}

/** Something that is under way. Its promise never rejects because of `cancel`. */
export interface Cancellable<Value> {
  readonly promise: Promise<Value>;
  readonly cancel: () => void;
}

/** What came of an activity, as far as Temporal can tell. */
export type EffectEnding =
  | { readonly type: 'replied'; readonly reply: EffectReply }
  /** No worker has begun it: nothing was done. */
  | { readonly type: 'unstarted' }
  /** A worker has begun it and was not heard of again: it may have been done. */
  | { readonly type: 'lost'; readonly why: string }
  | { readonly type: 'refused'; readonly why: string }
  | { readonly type: 'cancelled' };

export interface Handlers {
  readonly onSignal: (signal: SignalPayload) => void;
  readonly onCancel: (reason: string) => void;
  readonly status: () => CarriedStatus;
  /** What is on record, from this entry on. */
  readonly journal: (from: number) => JournalPage;
}
