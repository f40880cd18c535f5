import { defined } from '../../base/defined.ts';
import { duration } from '../../base/duration.ts';
import { createFailure } from '../../errors/failure.ts';
import { situationOf, startProgress } from '../../resilience/call-progress.ts';
import { spentLimit as spentBound } from '../../resilience/ledger.ts';
import { withdrawnTools } from '../../resilience/tool-breaker.ts';
import { changeState } from '../change-state.ts';
import { addMessages, lastMessage } from './history.ts';
import type { Action } from '../action.ts';
import type { MachineEvent } from '../event.ts';
import { noteMessage, salvageMessage } from '../notes.ts';
import { beginWith } from './resting.ts';
import type { RunEvent } from '../run-event.ts';
import { endRun } from './end.ts';
import type { Moved } from '../moved.ts';
import { told } from '../moved.ts';
import type { Calling, RunState, Stop, Withdrawal } from '../state.ts';

/** Begins the next turn, or ends the run at a limit: after a last turn without tools where that can help. */
export function beginTurn(given: RunState, tellings: readonly RunEvent[] = []): Moved {
  const { state, tellings: notes } = restoreTools(given);
  const stop = reachedLimit(state);
  const events = notes.length === 0 ? tellings : [...tellings, ...notes];
  if (stop !== undefined) return stopAtLimit(state, stop, events);
  const turn = state.turn + 1;
  return callModel(changeState(state, { turn }), { turn }, [
    ...events,
    { type: 'turn-started', turn, purpose: 'turn' },
  ]);
}

/** Asks the model, from the first attempt on. */
export function callModel(
  state: RunState,
  call: Pick<Calling, 'turn'> & Partial<Omit<Calling, 'type' | 'progress' | 'turn'>>,
  tellings: readonly RunEvent[],
): Moved {
  const { turn, salvage, selected, base = '', continuations = 0, isCompacted = false } = call;
  const progress = startProgress(state.ledger, beginWith(state, selected));
  const begun: Calling = { type: 'calling-model', turn, progress, base, continuations, isCompacted };
  const isPlain = salvage === undefined && selected === undefined;
  const calling = isPlain ? begun : { ...begun, ...defined({ salvage, selected }) };
  return {
    state: changeState(state, { phase: calling }),
    actions: told(tellings, attemptOf(state, calling, true)),
  };
}

/** A function chose the model to begin with: the same call, from there on. */
export function onSelected(
  given: RunState,
  calling: Calling,
  { target: selected, tookMs }: Extract<MachineEvent, { type: 'model-selected' }>,
): Moved {
  const { turn, salvage, base, continuations, isCompacted } = calling;
  const { elapsedMs, wallMs } = given;
  const state = changeState(given, { elapsedMs: elapsedMs + tookMs, wallMs: wallMs + tookMs });
  return callModel(state, { turn, base, continuations, isCompacted, selected, ...defined({ salvage }) }, []);
}

/** The next attempt of a call. */
export function attemptOf({ config, elapsedMs }: RunState, calling: Calling, isFirst: boolean): Action {
  const { progress } = calling;
  const ofCall = config.retry.deadlineMs - progress.elapsedMs;
  const ofRun = config.limits.timeoutMs - elapsedMs - progress.elapsedMs;
  const leftMs = Math.max(0, Math.min(ofCall, ofRun));
  return {
    type: 'call-model',
    situation: situationOf(progress, config.models, leftMs),
    turn: calling.turn,
    isFirst,
  };
}

/** Whether no bound forbids another turn. */
export function mayBegin(state: RunState): boolean {
  return reachedLimit(state) === undefined;
}

/** Which bound forbids another turn, if one does. */
function reachedLimit(state: RunState): Stop | undefined {
  // To decide costs nothing: see `conduct-effect.ts`.
  const spent = state.config.isConducted === true ? undefined : spentLimit(state);
  if (spent !== undefined) return spent;
  const { toolCalls, turn } = state;
  const { limits } = state.config;
  // A run may be forbidden to call any tool; the limit is reached only once it has called one.
  if (toolCalls >= limits.maxToolCalls && toolCalls > 0) {
    return overBudget('maxToolCalls', { used: toolCalls, limit: limits.maxToolCalls });
  }
  if (turn < limits.maxTurns) return undefined;
  const message = `The run took ${turn} turns, as many as limits.maxTurns allows`;
  const context = { limit: 'maxTurns', used: turn, max: limits.maxTurns };
  return { reason: 'max-turns', failure: createFailure('MAX_ITERATIONS_EXCEEDED', { message, context }) };
}

// With less than this left nothing can be begun: timers and sums of measured times are not exact.
const minLeftMs = 10;

/** Whether time or money has run out. */
export function spentLimit({ config, elapsedMs, ledger }: RunState): Stop | undefined {
  const { limits } = config;
  if (elapsedMs >= limits.timeoutMs - minLeftMs) return overdue(limits.timeoutMs);
  const spent = spentBound(ledger, limits);
  if (spent === undefined) return undefined;
  const used = {
    maxCostUsd: ledger.costUsd,
    maxTokens: ledger.inputTokens + ledger.outputTokens,
    maxRequests: ledger.requests,
  };
  return overBudget(spent, { used: used[spent], limit: limits[spent] });
}

/** Which limit it is that stops the run. */
export function limitName({ failure }: Stop): string {
  const { limit } = failure.context;
  return typeof limit === 'string' ? limit : failure.code;
}

/** The run's time is up. */
function overdue(timeoutMs: number): Stop {
  const message = `The run has taken the ${duration(timeoutMs)} that limits.timeoutMs allows`;
  const failure = createFailure('TIMEOUT', {
    origin: 'agent',
    message,
    retryable: false,
    hint: 'Raise limits.timeoutMs, or ask for less.',
    context: { limit: 'timeoutMs', max: timeoutMs },
  });
  return { reason: 'deadline', failure };
}

function overBudget(name: string, { used, limit }: { readonly used: number; readonly limit: number }): Stop {
  const message = `The run has used ${used} of limits.${name} (${limit})`;
  const context = { limit: name, used, max: limit };
  return { reason: 'budget', failure: createFailure('BUDGET_EXCEEDED', { message, context }) };
}

/** A last turn is worth its price where turns or tool calls ran out, not where time or money did. */
function stopAtLimit(state: RunState, stop: Stop, events: readonly RunEvent[]): Moved {
  const limit = limitName(stop);
  const turn = state.turn + 1;
  const reached: RunEvent = { type: 'limit-reached', turn: state.turn, limit, reason: stop.reason };
  const failed: RunEvent = { type: 'failure', turn: state.turn, failure: stop.failure };
  const canHelp = limit === 'maxTurns' || limit === 'maxToolCalls';
  if (!state.config.salvage || !canHelp || lastMessage(state.history) === undefined) {
    return endRun(state, { type: 'ended', end: 'stopped', ...stop }, [...events, reached, failed]);
  }
  const reason = 'one turn without tools may still give an answer that says what is missing';
  return callModel(
    changeState(state, { history: addMessages(state.history, salvageMessage(stop.failure)) }),
    { turn, salvage: stop },
    [
      ...events,
      reached,
      failed,
      { type: 'recovery', turn, failure: stop.failure, recovery: 'salvage', reason },
      { type: 'turn-started', turn, purpose: 'salvage' },
    ],
  );
}

/** Tools that a breaker had withdrawn come back when their time has come, and the model is informed. */
function restoreTools(state: RunState): { readonly state: RunState; readonly tellings: readonly RunEvent[] } {
  const names = Object.keys(state.withdrawn);
  if (names.length === 0) return { state, tellings: none };
  const stillOut = new Set(withdrawnTools(state.breakers, state.elapsedMs).map(({ name }) => name));
  const back = names.filter((name) => state.withdrawn[name]?.by === 'breaker' && !stillOut.has(name));
  if (back.length === 0) return { state, tellings: none };
  const withdrawn: Record<string, Withdrawal> = { ...state.withdrawn };
  for (const name of back) delete withdrawn[name];
  const note = noteMessage(`Available again: ${back.join(', ')}.`);
  return {
    state: changeState(state, { withdrawn, history: addMessages(state.history, note) }),
    tellings: back.map((name) => ({ type: 'tool-restored', turn: state.turn + 1, name })),
  };
}

const none: readonly RunEvent[] = [];
