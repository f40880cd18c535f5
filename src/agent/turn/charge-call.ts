import { addLedgers, emptyLedger, subtractLedgers } from '../../resilience/ledger.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import { changeState } from '../change-state.ts';
import type { RunState } from '../state.ts';
import type { QuestionEnd, ToolEnd, WaitingEnd } from '../tools/tool-call.ts';

/**
 * What a call used up counts whatever became of the attempt. A call that is a run reports all that it has used up so far, so that what
 * was reported before is not counted again.
 */
export function chargeCall(given: RunState, end: ToolEnd | WaitingEnd | QuestionEnd): RunState {
  const charge = 'charge' in end ? end.charge : undefined;
  const state =
    charge === undefined ? given : changeState(given, { ledger: addLedgers(given.ledger, charge) });
  const child = 'child' in end ? end.child : undefined;
  if (child === undefined) return state;
  const { runId, ledger: total } = child;
  const { children = {}, below = emptyLedger } = state;
  const isKnown = Object.hasOwn(children, runId);
  const news = isKnown ? subtractLedgers(total, children[runId] ?? emptyLedger) : total;
  // What went well is never continued, and need not be remembered.
  const isOver = end.type === 'ok';
  return changeState(state, {
    ledger: addLedgers(state.ledger, news),
    below: addLedgers(below, news),
    ...(isOver && !isKnown ? {} : { children: remember(children, runId, isOver ? undefined : total) }),
  });
}

function remember(
  children: Readonly<Record<string, Ledger>>,
  runId: string,
  total: Ledger | undefined,
): Readonly<Record<string, Ledger>> {
  const others = Object.fromEntries(Object.entries(children).filter(([id]) => id !== runId));
  return total === undefined ? others : { ...others, [runId]: total };
}
