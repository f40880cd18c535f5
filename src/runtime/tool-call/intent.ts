import type { ReadyCall } from '../../agent/state.ts';
import type { ToolEnd } from '../../agent/tools/tool-call.ts';
import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { createFailure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import type { Tool } from '../../model/tool.ts';
import type { LiveRun } from '../run/live-run.ts';

/** Written down before a call that must not happen twice: the holder of the token may make it, until the deadline. */
export interface Intent {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly deadlineMs: number;
}

// An intent outlives the tool's own time by this, for clocks do not agree to the second.
const intentMarginMs = 5000;

interface Issuing {
  readonly token: string;
  readonly nowMs: number;
  readonly timeoutMs: number;
}

/** A new intent of this process. */
export function issueIntent({ issued }: LiveRun, { token, nowMs, timeoutMs }: Issuing): Intent {
  issued.add(token);
  return { token, deadlineMs: nowMs + timeoutMs + intentMarginMs };
}

/** A token is good once, until its deadline, and for the process that wrote the intent: a previous process of the run may have used it. */
export function useToken(
  { tokens, issued }: LiveRun,
  { token, deadlineMs }: Intent,
  wallMs: number,
): boolean {
  const [own = ''] = token.split(':');
  if (!issued.has(own) || tokens.has(token) || wallMs > deadlineMs) return false;
  tokens.add(token);
  return true;
}

interface Outliving {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly tool: Tool;
}

/** The process that wrote the intent may still be at it. What a check finds counts only after its time is over. */
export async function outlive({ deadlineMs }: Intent, { clock, signal, tool }: Outliving): Promise<void> {
  // A wall clock that was set back must not make this longer than the intent could ever be.
  const leftMs = Math.min(deadlineMs - clock.wallMs(), tool.timeoutMs + intentMarginMs);
  if (leftMs <= 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const stopTimer = clock.after(leftMs, () => {
      stopListening();
      resolve();
    });
    const stopListening = onAbort(signal, () => {
      stopTimer();
      resolve();
    });
  });
}

/** The end of a call that a previous process of the run may have made. */
export function foreignIntent({ callId, name }: ReadyCall): ToolEnd {
  const failure = createFailure('UNKNOWN_OUTCOME', {
    origin: 'tool',
    message: `The call of "${name}" was started elsewhere, and its end was not recorded`,
    sideEffect: 'possible',
    context: { tool: name },
  });
  return {
    callId,
    name,
    type: 'unknown',
    content: renderFailure(failure, 'model'),
    failure,
    resultHash: 'unknown',
    durationMs: 0,
  };
}
