import type { Failure } from '../errors/failure.ts';
import type { Action } from './action.ts';
import type { RunEvent } from './run-event.ts';
import type { RunState } from './state.ts';

/** Where an event led. */
export interface Moved {
  readonly state: RunState;
  readonly actions: readonly Action[];
  /** The event has no meaning in this state, which is unchanged. */
  readonly invalid?: Failure;
}

/** First what is emitted, then what is done. */
export function told(events: readonly RunEvent[], action: Action): readonly Action[] {
  const actions: Action[] = [];
  for (const event of events) actions.push({ type: 'tell', event });
  actions.push(action);
  return actions;
}
