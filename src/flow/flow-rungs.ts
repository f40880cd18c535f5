import type { RecordedCall, Rung } from '../agent/conducted.ts';
import { defined } from '../base/defined.ts';
import type { ConductorStep, ConductorView } from '../runtime/children/conductor.ts';
import { fallbackOf, optionsOf } from './flow-fallbacks.ts';
import { readStates } from './flow-results.ts';
import type { FlowParts } from './flow-results.ts';

/**
 * The step with what it does about failures by going on. Only the calls that ended since the last step are looked at, so that
 * each failure is named once; a step that ends the flow names none, and the call that continues it later does.
 */
export function withRungs(parts: FlowParts, view: ConductorView, step: ConductorStep): ConductorStep {
  if (step.type !== 'call' && step.type !== 'answer') return step;
  const states = readStates(view);
  const failed = latestCalls(view).filter(({ name }) => states.get(name)?.type === 'failed');
  if (failed.length === 0) return step;
  const again = new Set(step.type === 'call' ? step.calls.map(({ name }) => name) : []);
  const rungs = failed
    .filter(({ name }) => !again.has(name))
    .flatMap(({ name }) => rungsOf(parts, view, name));
  return rungs.length === 0 ? step : { ...step, rungs };
}

function latestCalls({ calls }: ConductorView): readonly RecordedCall[] {
  const round = calls.at(-1)?.round;
  return calls.slice(calls.findLastIndex((call) => call.round !== round) + 1);
}

function rungsOf({ options }: FlowParts, view: ConductorView, name: string): readonly Rung[] {
  const state = readStates(view).get(name);
  if (state?.type !== 'failed') return [];
  const { failure, record } = state;
  const own = optionsOf(options, name);
  const fallback = fallbackOf(own);
  const lost = defined({ lostMs: record.lostMs });
  if (fallback !== undefined) {
    const reason = `"${fallback}" takes the place of the node "${name}", as its "onError" says`;
    return [{ failure, recovery: 'fall-back', reason, ...lost }];
  }
  if (own?.onError !== 'skip') return [];
  const reason = `the flow continues without the node "${name}", as its "onError" says`;
  return [{ failure, recovery: 'skip', reason, ...lost }];
}
