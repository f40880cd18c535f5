import { applyCompaction, misfitOf } from '../../model/apply-compaction.ts';
import { addLedgers } from '../../resilience/ledger.ts';
import { changeState } from '../change-state.ts';
import type { CompactionMade, MachineEvent } from '../event.ts';
import { messagesOf, startHistory } from './history.ts';
import type { Moved } from '../moved.ts';
import type { RunEvent } from '../run-event.ts';
import type { Calling, RunState } from '../state.ts';
import { callModel } from './turn.ts';

/** Whether the plan was made for this conversation. */
export function fitsHistory({ history }: RunState, made: CompactionMade | undefined): boolean {
  return made?.compaction === undefined || misfitOf(messagesOf(history), made.compaction) === undefined;
}

/** What was used up to find out how the conversation could be shorter counts, whatever becomes of it. */
export function chargeCompaction(state: RunState, made: CompactionMade | undefined): RunState {
  return made?.charge === undefined
    ? state
    : changeState(state, { ledger: addLedgers(state.ledger, made.charge) });
}

/** The same run with the shorter conversation. What was there before stays in the journal. */
export function shortenHistory(state: RunState, { compaction }: CompactionMade): RunState {
  if (compaction === undefined) return state;
  const messages = applyCompaction(messagesOf(state.history), compaction);
  return changeState(state, { history: startHistory(messages) });
}

/** What is reported of it. */
export function shortenedEvents(
  turn: number,
  why: 'budget' | 'overflow',
  { compaction, failure }: CompactionMade,
): readonly RunEvent[] {
  if (compaction === undefined) return failure === undefined ? [] : [{ type: 'failure', turn, failure }];
  const { strategy, tokensBefore, tokensAfter } = compaction;
  const told = { type: 'history-compacted', turn, why, strategy, tokensBefore, tokensAfter } as const;
  return [failure === undefined ? told : { ...told, failure }];
}

/** Before a model is asked: too little room was left for its answer. Where nothing can be saved, the provider will tell. */
export function onCompacted(
  given: RunState,
  calling: Calling,
  { made, tookMs }: Extract<MachineEvent, { type: 'compacted' }>,
): Moved {
  const { turn, salvage, base, continuations } = calling;
  const { elapsedMs, wallMs } = given;
  const passed = changeState(given, { elapsedMs: elapsedMs + tookMs, wallMs: wallMs + tookMs });
  const state = shortenHistory(chargeCompaction(passed, made), made);
  const call = { turn, base, continuations, isCompacted: true };
  return callModel(
    state,
    salvage === undefined ? call : { ...call, salvage },
    shortenedEvents(turn, 'budget', made),
  );
}
