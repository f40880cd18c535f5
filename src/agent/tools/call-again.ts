import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import type { CallState, FailedCall, ReadyCall, RunState, Tried } from '../state.ts';
import type { ToolEnd } from './tool-call.ts';

/** A call that was in doubt did not happen, so it may be made: as often as any other call may be tried. */
export function callAgain(
  { config }: RunState,
  { call, attempts }: Tried,
  { end, recovery }: { readonly end: ToolEnd; readonly recovery: FailedCall['recovery'] },
): CallState {
  if (attempts.length + 1 >= config.limits.maxToolAttempts) {
    return { type: 'done', call, end: neverHappened(call, attempts.length + 1) };
  }
  const failure = end.failure as Failure; // An end of the type `unknown` has one.
  const failed: FailedCall = { failure, recovery, lostMs: end.durationMs };
  return { type: 'ready', call, attempts: [...attempts, failed] };
}

function neverHappened({ callId, name }: ReadyCall, times: number): ToolEnd {
  const failure = createFailure('TOOL_EXECUTION_ERROR', {
    origin: 'tool',
    message: `"${name}" was called ${times} times, and each time it turned out that nothing had happened`,
    sideEffect: 'none',
    context: { tool: name },
  });
  const content = renderFailure(failure, 'model');
  return { callId, name, type: 'failed', content, failure, resultHash: failure.code, durationMs: 0 };
}
