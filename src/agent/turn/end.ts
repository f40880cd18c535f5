import type { Failure } from '../../errors/failure.ts';
import { changeState } from '../change-state.ts';
import type { Moved } from '../moved.ts';
import { told } from '../moved.ts';
import type { RunEvent } from '../run-event.ts';
import type { Ended, RunState, Suspended } from '../state.ts';

/** The end of the run. */
export function endRun(state: RunState, phase: Ended, tellings: readonly RunEvent[]): Moved {
  return { state: changeState(state, { phase }), actions: told(tellings, { type: 'finish' }) };
}

/** The ladder is spent, or something broke. */
export function failRun(state: RunState, failure: Failure, tellings: readonly RunEvent[]): Moved {
  return endRun(state, { type: 'ended', end: 'failed', failure }, tellings);
}

/** Something outside must come first. */
export function suspendRun(state: RunState, phase: Suspended, tellings: readonly RunEvent[]): Moved {
  const { reason, resumeAt, request } = phase;
  const event: RunEvent = {
    type: 'run-suspended',
    reason,
    ...(resumeAt === undefined ? {} : { resumeAt }),
    ...(request === undefined ? {} : { request }),
  };
  return { state: changeState(state, { phase }), actions: told([...tellings, event], { type: 'suspend' }) };
}
