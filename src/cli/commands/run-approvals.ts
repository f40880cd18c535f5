import { onAbort } from '../../base/abort.ts';
import type { AgentCallbacks } from '../../runtime/watch/callbacks.ts';
import type { OnApproval } from './run-flags.ts';
import type { RunView } from '../view/run-view.ts';

/** Who answers when a call needs a yes, and which calls were denied because nobody could. */
export interface Approvals {
  /** Nothing where the run is to wait instead. */
  readonly answer: AgentCallbacks['onApproval'];
  readonly denied: readonly string[];
}

export interface ApprovalOptions {
  /** Gives nothing where nobody is there any more. */
  readonly ask: RunView['ask'];
  /** Aborts when somebody wants the whole run to end. */
  readonly interrupted: AbortSignal;
}

const maxNoted = 100;

/** Answers by a person or, where there is none, says so, which is a no. */
export function createApprovals(how: OnApproval, { ask, interrupted }: ApprovalOptions): Approvals {
  const denied: string[] = [];
  if (how === 'suspend') return { answer: undefined, denied };
  return {
    denied,
    answer: async (request, { signal }) => {
      const said = how === 'ask' ? await ask(request, signal) : undefined;
      // Whether something happened, only somebody who has looked can say: without him the run waits.
      if (said !== undefined || request.type !== 'approval') return said;
      // Whoever ends the run has not answered: the run is told of its end before it hears of this.
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
