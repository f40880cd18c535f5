import type { RunEvent } from '../../agent/run-event.ts';
import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';

/** Shows a run to a person while it lasts, on a terminal or in plain lines. */
export interface RunView {
  readonly hear: (event: RunEvent) => void;
  /** Asks a person. Without a person who could answer, the answer is `undefined`, which denies the call. */
  readonly ask: (request: PersonRequest, signal: AbortSignal) => Promise<RunAnswer | undefined>;
  /** Nothing more comes: what is half shown is finished, timers end, the cursor is back. */
  readonly close: () => void;
}
