/** The waits of one attempt, each with its own bound. */
export interface Timeouts {
  /** Until the connection stands, name look-up and TLS included. */
  readonly connectMs: number;
  /** From the connection to the first byte of an answer: status and headers. */
  readonly headersMs: number;
  /** From one whole event of the stream to the next; bytes that make up no event do not count. */
  readonly idleMs: number;
  /** From one event that contains part of the answer to the next; keep-alives do not count. */
  readonly progressMs: number;
  /**
   * From the start of the attempt to the first token of an answer: text, reasoning or a tool call. A keep-alive is a sign of life and starts
   * the wait again. Where it is not given, 30 s while another model stands by, and no bound besides the others.
   */
  readonly firstTokenMs?: number;
  /** The whole attempt. */
  readonly totalMs: number;
}

/** How long a model may be silent while another one stands by. */
export const fallbackFirstTokenMs = 30_000;

export const defaultTimeouts: Omit<Timeouts, 'firstTokenMs'> = {
  connectMs: 10_000,
  headersMs: 60_000,
  idleMs: 30_000,
  progressMs: 90_000,
  totalMs: 120_000,
};
