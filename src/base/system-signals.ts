import type { Cancel } from './clock.ts';

/** The signals by which a machine asks a process to end. */
export type StopSignal = 'SIGTERM' | 'SIGINT';

/** A signal that has come in. */
export interface SignalNotice {
  readonly name: StopSignal;
  /** Other code of this process listens too, so that the end of the process is not ours to decide. */
  readonly isShared: boolean;
}

/** How signals reach us and how a process ends by one: handed in, so that a test can do without real ones. */
export interface ProcessSignals {
  /** Calls `listener` for every signal, the first ones and the impatient ones after. Returns how to stop listening. */
  readonly listen: (listener: (notice: SignalNotice) => void) => Cancel;
  /** Ends the process with the exit code of this signal, 143 or 130, as soon as nobody listens here any more. */
  readonly exit: (name: StopSignal) => void;
}

const exitCodes = { SIGTERM: 143, SIGINT: 130 } as const satisfies Record<StopSignal, number>;
const names: readonly StopSignal[] = ['SIGTERM', 'SIGINT'];
const listeners = new Set<(notice: SignalNotice) => void>();

/** The signals of this process. */
export const systemSignals: ProcessSignals = {
  listen: (listener) => {
    const own = (notice: SignalNotice): void => listener(notice); // Two who hand in the same function are two.
    // In front, for a listener that somebody else set up for one time only is still counted then.
    if (listeners.size === 0) for (const name of names) process.prependListener(name, tell);
    listeners.add(own);
    return () => {
      if (!listeners.delete(own) || listeners.size > 0) return;
      for (const name of names) process.removeListener(name, tell);
    };
  },
  // Sending itself the signal again would do nothing to the first process of a container.
  exit: (name) => {
    if (listeners.size === 0) process.exit(exitCodes[name]);
  },
};

function tell(name: NodeJS.Signals): void {
  const stop = names.find((known) => known === name);
  if (stop === undefined) return;
  const notice = { name: stop, isShared: process.listenerCount(stop) > 1 };
  for (const listener of listeners) listener(notice);
}
