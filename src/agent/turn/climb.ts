import { unreachable } from '../../base/assert.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import { beginsAnew, joinContinuation } from '../../model/join-continuation.ts';
import { changeState } from '../change-state.ts';
import { addMessages } from './history.ts';
import type { Message } from '../../model/message.ts';
import { endRun, failRun, suspendRun } from './end.ts';
import type { Answer, CompactionMade } from '../event.ts';
import { recover } from './ladder.ts';
import type { Recovery } from './ladder.ts';
import type { Moved } from '../moved.ts';
import { noteMessage, nudgeMessage } from '../notes.ts';
import { reaskMessage } from './output.ts';
import { maxPending } from './overcome.ts';
import { isOverflow, isUnbelievable, maxShortenings, overflowFailure } from './overflow.ts';
import type { RunEvent } from '../run-event.ts';
import type { RunRecovery } from '../run-outcome.ts';
import type { Calling, RunState, Stop, Suspended, Tallies } from '../state.ts';
import { chargeCompaction, shortenHistory, shortenedEvents } from './shorten.ts';
import { beginTurn, callModel, limitName, spentLimit } from './turn.ts';

/** A call of a model that failed, with what there is of it. */
export interface Fall {
  readonly calling: Calling;
  readonly failure: Failure;
  readonly answer: Answer | undefined;
  /** What the call used up. */
  readonly tokens: number;
  /** Why the call itself could do no more. */
  readonly reason: string;
  readonly events?: readonly RunEvent[];
  /** How the conversation could be made shorter, where it was refused as too long. */
  readonly made?: CompactionMade | undefined;
}

/** Takes the next rung of the failure's ladder. The decision is reported before anything is done about it. */
export function climb(given: RunState, fall: Fall): Moved {
  const { calling, failure, made } = fall;
  const state = chargeCompaction(given, made);
  const { turn, salvage } = calling;
  const limit = failure.code === 'CANCELLED' ? undefined : spentLimit(state);
  if (limit !== undefined && salvage === undefined) return stopAt(state, fall, limit);
  const recovery = recover(failure, historyOf(state, fall), state.config.limits);
  // A salvage turn is the last one: whatever became of it, the run is stopped by its limit.
  if (salvage !== undefined && recovery.type !== 'cancel') {
    return endRun(withPartial(state, fall), { type: 'ended', end: 'stopped', ...salvage }, fall.events ?? []);
  }
  const reason = [fall.reason, recovery.reason].filter((text) => text !== '').join('; ');
  // A cancel request is no recovery: it is only obeyed.
  const told: readonly RunEvent[] =
    recovery.type === 'cancel' ? [] : [{ type: 'recovery', turn, failure, recovery: recovery.type, reason }];
  const events = [...(fall.events ?? []), ...told];
  return act(state, { fall, recovery, events });
}

/** Time or money ran out while the call was tried: that is what ended it, and the failure says what was in the way. */
function stopAt(state: RunState, fall: Fall, stop: Stop): Moved {
  const { reason, failure: limit } = stop;
  const { turn } = fall.calling;
  const failure = createFailure(limit.code, {
    ...limit,
    causes: [{ name: fall.failure.code, message: fall.failure.message }, ...fall.failure.causes],
  });
  return endRun(withPartial(state, fall), { type: 'ended', end: 'stopped', reason, failure }, [
    ...(fall.events ?? []),
    { type: 'limit-reached', turn, limit: limitName(stop), reason },
    { type: 'recovery', turn, failure: fall.failure, recovery: 'stop', reason: limit.message },
  ]);
}

/** A model that began its answer again has taken back what it had said before. */
export function anewEvents({ turn, base }: Calling, { text }: Answer): readonly RunEvent[] {
  if (base === '' || !beginsAnew(base, text)) return [];
  return [
    { type: 'text-retracted', turn, keep: 0 },
    { type: 'text-delta', turn, text },
  ];
}

function historyOf(state: RunState, { calling, answer, failure, made }: Fall): Parameters<typeof recover>[1] {
  const { tallies, config } = state;
  const { refused } = made ?? {};
  const { repeats = 0 } = tallies;
  return {
    nudges: tallies.nudges,
    reasks: tallies.reasks,
    compactions: tallies.compactions,
    continuations: calling.continuations,
    hasText: (answer?.text ?? '').trim() !== '',
    hasCalls: (answer?.toolCalls.length ?? 0) > 0 || failure.context['isInsideCall'] === true,
    hasOutput: config.hasOutput,
    canCompact: made?.compaction !== undefined,
    isChainRefused: refused !== undefined && !isOverflow(failure),
    maxCompactions: refused === undefined ? 1 : maxShortenings,
    isUnbelievable: isUnbelievable(failure, { refused, repeats }),
    resumeAtMs: calling.progress.resumeAtMs,
  };
}

interface Climbing {
  readonly fall: Fall;
  readonly recovery: Recovery;
  readonly events: readonly RunEvent[];
}

function act(state: RunState, { fall, recovery, events }: Climbing): Moved {
  const { calling, failure, answer } = fall;
  const { turn } = calling;
  switch (recovery.type) {
    case 'nudge':
      return beginTurn(
        pend(say(state, nudgeMessage(failure)), fall, { nudges: state.tallies.nudges + 1, by: 'nudge' }),
        [...events, ...takeBack(calling, answer)],
      );
    case 're-ask':
      return beginTurn(
        pend(say(state, noteMessage(reaskMessage(failure.message))), fall, {
          reasks: state.tallies.reasks + 1,
          by: 're-ask',
        }),
        events,
      );
    case 'continue': {
      const call = { turn, base: textSoFar(fall), continuations: calling.continuations + 1 };
      const shown = answer === undefined ? events : [...events, ...anewEvents(calling, answer)];
      return callModel(pend(state, fall, { by: 'continue' }), call, shown);
    }
    case 'compact':
      return goOnShorter(state, fall, events);
    case 'retry':
      return callModel(
        pend(state, fall, { by: 'retry', repeats: (state.tallies.repeats ?? 0) + 1 }),
        { turn, continuations: calling.continuations, isCompacted: true },
        [...events, ...takeBack(calling, answer)],
      );
    case 'suspend':
      return suspendRun(pend(state, fall, { by: 'suspend' }), suspensionOf(state, fall, recovery), events);
    case 'stop':
      return endRun(
        withPartial(state, fall),
        { type: 'ended', end: 'stopped', reason: recovery.stop, failure },
        events,
      );
    case 'cancel':
      return endRun(withPartial(state, fall), { type: 'ended', end: 'cancelled' }, events);
    case 'fail': {
      const { refused } = fall.made ?? {};
      const shortenings = state.tallies.compactions;
      return failRun(withPartial(state, fall), overflowFailure(failure, { refused, shortenings }), events);
    }
    default:
      return unreachable(recovery);
  }
}

/** Asks again with a shorter conversation. */
function goOnShorter(state: RunState, fall: Fall, events: readonly RunEvent[]): Moved {
  const { calling, answer, made = {} } = fall;
  const { turn, continuations } = calling;
  const compactions = state.tallies.compactions + 1;
  const shorter = pend(shortenHistory(state, made), fall, { compactions, by: 'compact' });
  return callModel(shorter, { turn, continuations, isCompacted: true }, [
    ...events,
    ...takeBack(calling, answer),
    ...shortenedEvents(turn, 'overflow', made),
  ]);
}

function say(state: RunState, message: Message): RunState {
  return changeState(state, { history: addMessages(state.history, message) });
}

interface Pending extends Partial<Pick<Tallies, 'nudges' | 'reasks' | 'compactions' | 'repeats'>> {
  readonly by: RunRecovery['recovery'];
}

/** Kept until an answer shows that it was overcome. */
function pend(state: RunState, { calling, failure, tokens }: Fall, { by, ...counts }: Pending): RunState {
  const { progress, turn } = calling;
  const { elapsedMs: lostMs, attempts } = progress;
  const record: RunRecovery = { failure, recovery: by, attempts, lostMs, lostTokens: tokens, turn };
  const within = progress.recoveries.map((recovery): RunRecovery => ({ ...recovery, turn }));
  const pending = [...state.tallies.pending, ...within, record].slice(-maxPending);
  return changeState(state, { tallies: { ...state.tallies, ...counts, pending } });
}

/** Half a text must not stay on anybody's screen as if it were an answer. */
function takeBack({ turn, base }: Calling, answer: Answer | undefined): readonly RunEvent[] {
  return base === '' && (answer?.text ?? '') === '' ? [] : [{ type: 'text-retracted', turn, keep: 0 }];
}

/** What came of the answer is evidence, never an answer. */
function withPartial(state: RunState, fall: Fall): RunState {
  const text = textSoFar(fall);
  return text.trim() === '' ? state : changeState(state, { partial: text });
}

function textSoFar({ calling, answer }: Fall): string {
  return answer === undefined ? calling.base : joinContinuation(calling.base, answer).text;
}

function suspensionOf(
  state: RunState,
  { calling, failure }: Fall,
  { suspend: reason, resumeAtMs }: Extract<Recovery, { type: 'suspend' }>,
): Suspended {
  const suspended: Suspended = { type: 'suspended', reason, failure, back: calling };
  if (resumeAtMs !== undefined) return { ...suspended, resumeAt: resumeAtMs };
  const why = renderFailure(failure, 'person', { retrying: false });
  return { ...suspended, request: { type: 'mend', id: `${state.runId}:${calling.turn}:mend`, why } };
}
