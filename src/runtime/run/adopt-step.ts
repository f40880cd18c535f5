import type { Action } from '../../agent/action.ts';
import type { MachineEvent } from '../../agent/event.ts';
import { deaf } from '../record/durable.ts';
import type { Performing } from '../perform.ts';

type Adopted = Extract<MachineEvent, { type: 'adopted' }>;

/** Whether an imported run continues here for the first time: by the record, or now. */
export function isAdoptionDue({ live, durable }: Performing): boolean {
  const recorded = durable.upcoming?.();
  if (recorded !== undefined) return recorded.effect === 'adopt';
  const { provenance, state } = live;
  return provenance?.type === 'imported' && state?.adopted !== provenance.id;
}

/** Limits and rules of this agent take the place of those on record, before anything else is done. */
export async function performAdoption({ durable }: Performing, work: Action): Promise<MachineEvent> {
  const outcome = await durable.call('adopt', {}, deaf);
  if (outcome.type === 'failed') return { type: 'broken', failure: outcome.failure };
  const given = outcome.value as unknown as Omit<Adopted, 'type' | 'work'>; // The one form of its value.
  return { type: 'adopted', ...given, work };
}
