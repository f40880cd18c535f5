/** Time as it is handed in: a test moves it by hand, and production reads the machine's. */
export interface Clock {
  /** Milliseconds since 1970, as people and servers write them. It may jump; never measure a wait with it. */
  readonly wallMs: () => number;
  /** Milliseconds that only ever grow. Timeouts and waits are measured with it. */
  readonly monotonicMs: () => number;
  /** Runs `callback` once, `delayMs` from now or later, and returns how to call it off. Any finite delay is kept. */
  readonly after: (delayMs: number, callback: () => void, options?: TimerOptions) => Cancel;
}

export interface TimerOptions {
  /** Whether the process stays alive for it, which it does unless this is `false`. A clock may ignore it. */
  readonly keepsProcess?: boolean;
}

/** Calls a timer or a subscription off; further calls do nothing. */
export type Cancel = () => void;

/** A number in [0, 1), as `Math.random` gives it. */
export type Random = () => number;
