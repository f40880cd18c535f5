import { onAbort } from '../../base/abort.ts';
import type { AgentCallbacks } from '../../runtime/watch/callbacks.ts';
import type { OnApproval } from './run-flags.ts';
import type { RunView } from '../view/run-view.ts';

/** Who answers when a call needs approval, and which calls were denied because no person could. */
export interface Approvals {
  /** Nothing where the run is to wait instead. */
  readonly answer: AgentCallbacks['onApproval'];
  readonly denied: readonly string[];
}

export interface ApprovalOptions {
  /** Returns nothing where the person is gone. */
  readonly ask: RunView['ask'];
  /** Aborts when the whole run is to be cancelled. */
  readonly interrupted: AbortSignal;
}

const maxNoted = 100;

/** Answers by a person or, where there is none, says so, which denies the call. */
export function createApprovals(how: OnApproval, { ask, interrupted }: ApprovalOptions): Approvals {
  const denied: string[] = [];
  if (how === 'suspend') return { answer: undefined, denied };
  return {
    denied,
    answer: async (request, { signal }) => {
      const said = how === 'ask' ? await ask(request, signal) : undefined;
      // Only a person who has checked can say whether something happened: without one the run waits.
      if (said !== undefined || request.type !== 'approval') return said;
      // Cancelling the run is not an answer: the run receives the cancel request before this one.
      if (interrupted.aborted) {
        await aborted(signal);
        return undefined;
      }
      if (denied.length < maxNoted) denied.push(request.tool);
      return { type: 'absent' };
    },
  };
}

/** Bounded by the time that an answer may take, at which the signal aborts too. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, resolve);
  });
}
