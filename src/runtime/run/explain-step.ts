import { withExplanation } from '../../agent/report/explained.ts';
import type { ExplanationMade } from '../../agent/report/explained.ts';
import type { RunState } from '../../agent/state.ts';
import { isCancelled } from '../record/durable-errors.ts';
import { deaf } from '../record/durable.ts';
import { publish } from './live-run.ts';
import type { Performing } from '../perform.ts';

/**
 * Has the end of a run explained, as a step of its journal: a replay finds the same words and asks no model. Rejects only with the
 * engine's control errors, and not because of a cancel request, for it has ended.
 */
export async function explainEnd({ durable, live }: Performing, state: RunState): Promise<RunState> {
  try {
    const outcome = await durable.call('explain', { turn: state.turn }, deaf);
    if (outcome.type === 'failed') return state;
    const made = outcome.value as unknown as ExplanationMade; // The one form of its value.
    const { explanation } = made;
    if (explanation !== undefined) publish(live, { type: 'explained', explanation });
    return withExplanation(state, made);
  } catch (error) {
    if (isCancelled(error)) return state;
    throw error;
  }
}
