import { unreachable } from '../base/assert.ts';
import { createFailure } from '../errors/failure.ts';
import { advance, afterWait } from '../resilience/call-progress.ts';
import { emptyLedger } from '../resilience/ledger.ts';
import { noToolBreakers } from '../resilience/tool-breaker.ts';
import { adoptRun } from './approval/adopt.ts';
import { changeState } from './change-state.ts';
import { addMessages, startHistory } from './turn/history.ts';
import { onAttempt, onGiven } from './turn/answer.ts';
import { noRejections } from './approval/approval.ts';
import { cancelRun } from './tools/cancel.ts';
import { endRun } from './turn/end.ts';
import type { BrokenOff, MachineEvent } from './event.ts';
import { emptyLoopGuard } from './turn/loop-guard.ts';
import type { Moved } from './moved.ts';
import { told } from './moved.ts';
import { leftOpen } from './tools/left-open.ts';
import { onAbsent, onAnswered } from './approval/person.ts';
import { resumeRun } from './resume.ts';
import { fitsHistory, onCompacted } from './turn/shorten.ts';
import type { RunEvent } from './run-event.ts';
import type { RunState } from './state.ts';
import type { Message } from '../model/message.ts';
import { afterWait as afterToolWait, isAbout, onToolsFinished, onToolsVerified } from './tools/tools.ts';
import { attemptOf, beginTurn, onSelected } from './turn/turn.ts';

/**
 * The machine. Pure and synchronous: no clock, no randomness, no I/O; the same events give the same state. An event that has
 * no meaning in a state leaves it unchanged and is answered with a typed `INVALID_STATE`, never with a silent wait.
 */
export function transition(state: RunState | undefined, event: MachineEvent): Moved {
  if (event.type === 'run-started') return state === undefined ? startRun(event) : invalid(state, event);
  if (state === undefined) throw new Error(`The first event of a run is run-started, got ${event.type}`);
  const { phase } = state;
  switch (event.type) {
    case 'attempt-finished':
      if (phase.type !== 'calling-model' || !fitsHistory(state, event.made)) return invalid(state, event);
      return onAttempt(inject(state, event.injected), phase, event);
    case 'compacted':
      if (phase.type !== 'calling-model' || !fitsHistory(state, event.made)) return invalid(state, event);
      return onCompacted(state, phase, event);
    case 'model-selected':
      return phase.type === 'calling-model' ? onSelected(state, phase, event) : invalid(state, event);
    case 'answer-given':
      return phase.type === 'calling-model' ? onGiven(state, phase, event) : invalid(state, event);
    case 'waited':
      return onWaited(state, event);
    case 'tools-finished':
      if (phase.type !== 'running-tools' || !isAbout(phase, 'running', event.ends))
        return invalid(state, event);
      return onToolsFinished(pass(state, event.tookMs), phase, event.ends);
    case 'tools-verified':
      if (phase.type !== 'running-tools' || !isAbout(phase, 'verifying', event.found))
        return invalid(state, event);
      return onToolsVerified(pass(state, event.tookMs), phase, event.found);
    case 'person-answered':
      return phase.type === 'asking' ? onAnswered(state, phase, event) : invalid(state, event);
    case 'person-absent':
      return phase.type === 'asking' ? onAbsent(state, phase) : invalid(state, event);
    case 'adopted':
      return phase.type === 'ended' ? invalid(state, event) : adoptRun(state, event);
    case 'resumed':
      return resumeRun(state, event) ?? invalid(state, event);
    case 'halted':
      if (phase.type === 'ended') return invalid(state, event);
      return endRun(
        breakOff(state, event),
        { type: 'ended', end: 'stopped', reason: event.reason ?? 'guardrail', failure: event.failure },
        [],
      );
    case 'broken':
      if (phase.type === 'ended') return invalid(state, event);
      return endFailed(state, event);
    case 'cancelled':
      if (phase.type === 'ended') return invalid(state, event);
      return endRun(breakOff(state, event), { type: 'ended', end: 'cancelled', ...leftOpen(phase) }, []);
    default:
      return unreachable(event);
  }
}

function endFailed(state: RunState, event: Extract<BrokenOff, { type: 'broken' }>): Moved {
  const { failure } = event;
  return endRun(
    breakOff(state, event),
    { type: 'ended', end: 'failed', failure, ...leftOpen(state.phase) },
    [],
  );
}

/** Leaves things in order, the attempt that had just ended included. */
function breakOff(state: RunState, { step }: BrokenOff): RunState {
  const { phase, config } = state;
  if (step === undefined || phase.type !== 'calling-model') return cancelRun(state);
  const { progress } = advance(phase.progress, step, config.models);
  return cancelRun(changeState(state, { phase: { ...phase, progress } }));
}

function startRun(event: Extract<MachineEvent, { type: 'run-started' }>): Moved {
  const { runId, config, messages, repairs } = event;
  const state: RunState = {
    runId,
    config,
    history: startHistory(messages),
    phase: { type: 'ended', end: 'cancelled' },
    turn: 0,
    toolCalls: 0,
    elapsedMs: 0,
    wallMs: 0,
    ledger: emptyLedger,
    recoveries: [],
    records: [],
    partial: '',
    guard: emptyLoopGuard,
    breakers: noToolBreakers,
    resting: [],
    withdrawn: {},
    tallies: {
      nudges: 0,
      reasks: 0,
      compactions: 0,
      toolFailures: {},
      failedTurns: 0,
      pending: [],
      rejections: noRejections,
      succeeded: {},
    },
  };
  const started: RunEvent = { type: 'run-started', runId, agent: config.agent, input: [...messages] };
  const { toolChoice = 'auto' } = config;
  const begun: RunState = toolChoice === 'auto' ? state : { ...state, toolChoice };
  return beginTurn(
    config.isConducted === true ? { ...begun, taskLength: messages.length } : begun,
    repairs.length === 0 ? [started] : [started, { type: 'history-repaired', repairs }],
  );
}

function inject(state: RunState, injected: readonly Message[] | undefined): RunState {
  if (injected === undefined || injected.length === 0) return state;
  return changeState(state, { history: addMessages(state.history, ...injected) });
}

function pass(state: RunState, tookMs: number): RunState {
  return changeState(state, { elapsedMs: state.elapsedMs + tookMs, wallMs: state.wallMs + tookMs });
}

function onWaited(state: RunState, event: Extract<MachineEvent, { type: 'waited' }>): Moved {
  const { phase } = state;
  if (phase.type === 'waiting') {
    const calling = { ...phase.calling, progress: afterWait(phase.calling.progress, event.tookMs) };
    const waited: RunState = changeState(state, { wallMs: state.wallMs + event.tookMs, phase: calling });
    return { state: waited, actions: told([], attemptOf(waited, calling, false)) };
  }
  if (phase.type === 'waiting-for-tools') return afterToolWait(pass(state, event.tookMs), phase.tools);
  return invalid(state, event);
}

function invalid(state: RunState, event: MachineEvent): Moved {
  const failure = createFailure('INVALID_STATE', {
    origin: 'agent',
    message: `The run is ${state.phase.type}, where ${event.type} has no meaning`,
    context: { phase: state.phase.type, event: event.type },
  });
  return { state, actions: [], invalid: failure };
}
