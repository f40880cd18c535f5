import { changeState } from '../change-state.ts';
import type { RunState } from '../state.ts';
import type { QuestionEnd, ToolEnd } from './tool-call.ts';

const maxRemembered = 500;

/** What a tool wants to be kept joins what the run has kept for others. What was remembered longest ago is forgotten first. */
export function remember(state: RunState, end: ToolEnd | QuestionEnd): RunState {
  const { type, remembered: added = [] } = end;
  if ((type !== 'ok' && type !== 'asks') || added.length === 0) return state;
  const names = new Set(added.map(({ name }) => name));
  const others = (state.remembered ?? []).filter(({ name }) => !names.has(name));
  return changeState(state, { remembered: [...others, ...added].slice(-maxRemembered) });
}

/** What was last remembered under a name. */
export function recall(
  { remembered = [] }: Pick<RunState, 'remembered'>,
  wanted: string,
): string | undefined {
  return remembered.findLast(({ name }) => name === wanted)?.text;
}
