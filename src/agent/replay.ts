import type { MachineEvent } from './event.ts';
import type { RunState } from './state.ts';
import { transition } from './transition.ts';

/** The state that these events lead to. Events that have no meaning where they stand change nothing. */
export function replay(events: Iterable<MachineEvent>, from?: RunState): RunState | undefined {
  let state = from;
  for (const event of events) state = transition(state, event).state;
  return state;
}
