import type { AttemptSituation } from '../resilience/call-progress.ts';
import type { RunEvent } from './run-event.ts';
import type { PersonRequest } from './run-outcome.ts';

/** What is to be done. After the tellings there is exactly one that brings the next event, unless the run has ended. */
export type Action =
  | { readonly type: 'tell'; readonly event: RunEvent }
  | {
      readonly type: 'call-model';
      readonly situation: AttemptSituation;
      readonly turn: number;
      readonly isFirst: boolean;
    }
  | { readonly type: 'wait'; readonly delayMs: number }
  /** Side by side; each settles by itself. */
  | {
      readonly type: 'run-tools';
      readonly calls: readonly { readonly index: number; readonly attempt: number }[];
    }
  | { readonly type: 'verify-tools'; readonly indexes: readonly number[] }
  | { readonly type: 'ask-person'; readonly request: PersonRequest }
  /** Outside the process something must come first: wait for `resumed`. */
  | { readonly type: 'suspend' }
  | { readonly type: 'finish' };
