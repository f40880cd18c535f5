import { wait } from '../../base/abort.ts';
import type { SignalNotice } from '../../base/system-signals.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { configError } from '../../errors/config-error.ts';
import type { Store } from '../../model/store/store.ts';
import { createWorkerMemory } from './worker-memory.ts';
import { resolveWorker } from './worker-options.ts';
import type { WorkerAgents, WorkerOptions } from './worker-options.ts';
import { poll, pollSoon } from './worker-poll.ts';
import type { Taken, WorkerState } from './worker-state.ts';

/** Continues what other processes began, and what has come due. */
export interface Worker {
  /** Begins to work. Resolves when the store has been asked for the first time, also where it could not answer. */
  readonly start: () => Promise<void>;
  /**
   * Takes nothing more, and gives what runs at most `drainMs` to stop. The runs are not ended: the process that resumes them
   * next continues them. Never rejects.
   */
  readonly stop: (reason?: string) => Promise<void>;
  /** The ids of the runs that it executes now. */
  readonly running: readonly string[];
  /**
   * Resolves when nothing is running and nothing can be resumed now: what others hold, what was refused and what is due
   * later does not count. Resolves at once where the worker does not work.
   */
  readonly idle: () => Promise<void>;
}

/**
 * Makes a worker: it finds interrupted, due and answered runs of these agents in the store, and continues them.
 *
 * @example
 * const worker = createWorker([support], store, { onEvent: (event) => log(event) });
 * await worker.start(); // Until SIGTERM: then it drains, and the process ends with 143.
 */
export function createWorker(agents: WorkerAgents, store: Store, options: WorkerOptions = {}): Worker {
  const control: Control = {
    state: createState(resolveWorker(agents, store, options)),
    unlisten: () => undefined,
    started: undefined,
    stopped: undefined,
    signals: 0,
  };
  return {
    start: () => (control.started ??= start(control)),
    stop: (reason = 'stopped by the caller') => stop(control, reason),
    get running() {
      return [...control.state.running.keys()];
    },
    idle: () => idle(control),
  };
}

interface Control {
  readonly state: WorkerState;
  unlisten: () => void;
  started: Promise<void> | undefined;
  stopped: Promise<void> | undefined;
  /** How many came in. */
  signals: number;
}

function createState(parts: WorkerState['parts']): WorkerState {
  const nothing = (): void => undefined;
  return {
    parts,
    memory: createWorkerMemory(),
    phase: 'made',
    running: new Map(),
    trial: undefined,
    suspects: new Map(),
    polling: {
      count: 0,
      isUnderWay: false,
      isWantedAgain: false,
      failures: 0,
      endedMs: 0,
      nextMs: 0,
      hasMore: false,
      cancelTimer: nothing,
    },
    idlers: new Set(),
  };
}

async function start(control: Control): Promise<void> {
  const { state } = control;
  if (state.phase !== 'made')
    throw configError('This worker was stopped and cannot be started again: create another one');
  state.phase = 'working';
  const { signals } = state.parts;
  if (signals !== undefined) control.unlisten = signals.listen((notice) => obey(control, notice));
  await poll(state);
}

/** The first signal drains; the sender of a second one does not want to wait. */
function obey(control: Control, { name, isShared }: SignalNotice): void {
  const { signals, exitOnSignal = !isShared } = control.state.parts;
  const exit = (): void => {
    control.unlisten();
    if (exitOnSignal) signals?.exit(name);
  };
  control.signals += 1;
  if (control.signals > 1) exit();
  else void stop(control, name).then(exit);
}

function stop(control: Control, reason: string): Promise<void> {
  control.stopped ??= drain(control, reason);
  return control.stopped;
}

async function drain(control: Control, reason: string): Promise<void> {
  const { state } = control;
  const { parts, polling, running } = state;
  state.phase = 'stopping';
  polling.cancelTimer();
  const inHand = [...running];
  const over = new AbortController();
  const allGone = Promise.all(inHand.map(([runId, taken]) => letGo(state, runId, taken)));
  await Promise.race([allGone, wait(parts.drainMs, { clock: parts.clock, signal: over.signal })]);
  over.abort();
  state.phase = 'stopped';
  // A signal that is being obeyed stops listening itself, so that a second one is heard until the process ends.
  if (control.signals === 0) control.unlisten();
  const left = inHand.filter(([, { stage }]) => stage !== 'finished').map(([runId]) => runId);
  parts.tell({ type: 'stopped', reason, left });
  for (const { resolve } of state.idlers) resolve();
  state.idlers.clear();
}

/**
 * Waits until a run is no longer ours. Half of the time it may come to an end or a suspension by itself, for to break off a
 * tool may leave its call in doubt; the rest is for letting go.
 */
async function letGo(state: WorkerState, runId: string, taken: Taken): Promise<void> {
  const { clock, drainMs, tell } = state.parts;
  const over = new AbortController();
  const done = taken.done.finally(() => over.abort());
  await Promise.race([done, wait(drainMs / 2, { clock, signal: over.signal })]);
  if (over.signal.aborted || taken.stage !== 'resumed') return done;
  try {
    await taken.agent.release(runId);
  } catch (thrown) {
    tell({ type: 'run-refused', runId, failure: classifyFailure(thrown) });
  }
  return done;
}

function idle({ state }: Control): Promise<void> {
  if (state.phase !== 'working') return Promise.resolve();
  return new Promise((resolve) => {
    state.idlers.add({ sincePoll: state.polling.count, resolve });
    if (state.running.size === 0) pollSoon(state);
  });
}
