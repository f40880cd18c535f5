import type { MachineEvent } from '../agent/event.ts';
import type { Moved } from '../agent/moved.ts';
import type { RunState } from '../agent/state.ts';
import { transition as move } from '../agent/transition.ts';
import { isRecord } from '../base/json.ts';
import { adviseName } from '../base/nearest.ts';
import { configError } from '../errors/config-error.ts';
import { showValue } from '../model/check/show-value.ts';

const eventTypes = {
  'run-started': true,
  'attempt-finished': true,
  compacted: true,
  'model-selected': true,
  'answer-given': true,
  waited: true,
  'tools-finished': true,
  'tools-verified': true,
  'person-answered': true,
  'person-absent': true,
  adopted: true,
  resumed: true,
  halted: true,
  broken: true,
  cancelled: true,
} as const satisfies Readonly<Record<MachineEvent['type'], true>>;

/**
 * The state that follows, and what is to be done. An event that has no meaning in a state leaves it unchanged and is answered with
 * `invalid`. Throws a `ConfigError` for what is no event.
 */
export function transition(state: RunState | undefined, event: MachineEvent): Moved {
  const given: unknown = event;
  const type = isRecord(given) ? given['type'] : undefined;
  if (typeof type !== 'string')
    throw configError(`transition() takes an event with a "type", got ${showValue(given)}`);
  if (!Object.hasOwn(eventTypes, type))
    throw configError(`There is no event "${type}": ${adviseName(type, Object.keys(eventTypes))}`);
  return move(state, event);
}
