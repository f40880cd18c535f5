import { assert } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { joinContinuation } from '../../model/join-continuation.ts';
import { advance } from '../../resilience/call-progress.ts';
import type { CallProgress } from '../../resilience/call-progress.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import { changeState } from '../change-state.ts';
import { addMessages } from './history.ts';
import { anewEvents, climb } from './climb.ts';
import { endRun } from './end.ts';
import type { Answer, MachineEvent } from '../event.ts';
import type { Moved } from '../moved.ts';
import { told } from '../moved.ts';
import type { OutputCheck } from './output.ts';
import { addRecoveries, awaitEnd } from './overcome.ts';
import type { RunEvent } from '../run-event.ts';
import type { RunRecovery } from '../run-outcome.ts';
import { settleCall } from './settle-call.ts';
import type { Calling, RunState } from '../state.ts';
import type { PreparedCall } from '../tools/tool-call.ts';
import { beginTools } from '../tools/tools.ts';
import { attemptOf, beginTurn, mayBegin } from './turn.ts';

type AttemptFinished = Extract<MachineEvent, { type: 'attempt-finished' }>;

/** An attempt at a model has ended: continue the call, with the answer, or up the ladder. */
export function onAttempt(given: RunState, calling: Calling, { step, made }: AttemptFinished): Moved {
  const advanced = advance(calling.progress, step, given.config.models);
  const { progress, next } = advanced;
  // A clock that was set back must not make the run younger.
  const state: RunState = changeState(given, { wallMs: Math.max(given.wallMs, step.wallMs) });
  const ongoing = withProgress(calling, progress);
  switch (next.type) {
    case 'succeeded':
      // The value of a success is an answer: see StepEnd.
      return onAnswer(settleCall(state, progress), {
        calling: ongoing,
        answer: (step as { readonly value: Answer }).value,
        tokens: tokensOf(progress) - tokensOf(given),
      });
    case 'wait':
      return {
        state: changeState(state, { phase: { type: 'waiting', calling: ongoing, delayMs: next.delayMs } }),
        actions: told(recoveryOf(calling, advanced.told), { type: 'wait', delayMs: next.delayMs }),
      };
    case 'attempt':
      return {
        state: changeState(state, { phase: ongoing }),
        actions: told(recoveryOf(calling, advanced.told), attemptOf(state, ongoing, false)),
      };
    default:
      return climb(settleCall(state, progress), {
        calling: ongoing,
        failure: next.failure,
        answer: step.value,
        tokens: tokensOf(progress) - tokensOf(given),
        reason: advanced.told?.reason ?? '',
        made,
      });
  }
}

function withProgress(given: Calling, progress: CallProgress): Calling {
  const { turn, base, continuations, isCompacted, salvage, selected } = given;
  const calling: Calling = { type: 'calling-model', turn, progress, base, continuations, isCompacted };
  return salvage === undefined && selected === undefined
    ? calling
    : { ...calling, ...defined({ salvage, selected }) };
}

type AnswerGiven = Extract<MachineEvent, { type: 'answer-given' }>;

/** An answer in the place of a model's, and what it does about failures before it. */
export function onGiven(given: RunState, calling: Calling, event: AnswerGiven): Moved {
  const { answer, rungs = [], wallMs = 0 } = event;
  const timed = wallMs > given.wallMs ? changeState(given, { wallMs }) : given;
  const state = settleCall(timed, calling.progress);
  if (rungs.length === 0) return onAnswer(state, { calling, answer, tokens: 0 });
  const { turn } = calling;
  const events = rungs.map(({ failure, recovery, reason }): RunEvent => ({
    type: 'recovery',
    turn,
    failure,
    recovery,
    reason,
  }));
  return onAnswer(awaitEnd(state, turn, rungs), { calling, answer, tokens: 0, events });
}

function tokensOf({ ledger }: { readonly ledger: Ledger }): number {
  return ledger.inputTokens + ledger.outputTokens;
}

type Told = ReturnType<typeof advance>['told'];

function recoveryOf({ turn }: Calling, decided: Told): readonly RunEvent[] {
  // That a call gives up is emitted as the rung that is taken then.
  if (decided === undefined || decided.recovery === 'give-up') return [];
  const { failure, recovery, reason, delayMs } = decided;
  const event = { type: 'recovery', turn, failure, recovery, reason } as const;
  return [delayMs === undefined ? event : { ...event, delayMs }];
}

interface Answered {
  readonly calling: Calling;
  readonly answer: Answer;
  readonly tokens: number;
  /** To be emitted first. */
  readonly events?: readonly RunEvent[];
}

/** A whole answer: calls to run, or the end of the work. */
function onAnswer(given: RunState, { calling, answer, tokens, events: before = [] }: Answered): Moved {
  const { turn, base, salvage } = calling;
  const whole = joinContinuation(base, answer);
  const isBlank = whole.text.trim() === '';
  const hasCalls = whole.toolCalls.length > 0;
  const partial = isBlank ? given.partial : whole.text;
  const message = { role: 'assistant', content: whole.content } as const;
  const events = [...before, ...anewEvents(calling, answer)];
  const freed = withoutForcedCall(given);
  if (hasCalls && salvage === undefined) {
    const state = overcome(
      partial === given.partial ? freed : changeState(freed, { partial }),
      calling,
      false,
    );
    return beginTools(state, { answer: message, prepared: preparedOf(answer) }, events);
  }
  const answered: RunState = changeState(freed, { partial, history: addMessages(given.history, message) });
  if (salvage !== undefined) {
    const saved = isBlank || hasCalls ? changeState(given, { partial }) : overcome(answered, calling, true);
    return endRun(saved, { type: 'ended', end: 'stopped', ...salvage }, events);
  }
  const fall = { calling, answer, tokens, reason: '' };
  if (isBlank) return climb(given, { ...fall, failure: emptied(), events });
  const output = outputOf(given, whole);
  if (output.type === 'valid') {
    if (whole.isOvertaken === true && mayBegin(answered)) {
      return beginTurn(overcome(answered, calling, true), events);
    }
    const end = { type: 'ended', end: 'completed', text: whole.text, output: output.value } as const;
    return endRun(overcome(answered, calling, true), end, events);
  }
  const failure = outputFailure(output, given.tallies.reasks + 1);
  return climb(answered, { ...fall, failure, events: [...events, { type: 'failure', turn, failure }] });
}

/** A forced call is forced once: a model that must call a tool at every turn never answers. */
function withoutForcedCall(state: RunState): RunState {
  const { toolChoice, ...free } = state;
  return toolChoice === undefined || toolChoice === 'none' ? state : free;
}

function preparedOf({ prepared = [], toolCalls }: Answer): readonly PreparedCall[] {
  assert(
    prepared.length === toolCalls.length,
    `${toolCalls.length} calls, ${prepared.length} of them prepared`,
  );
  return prepared;
}

function outputOf({ config }: RunState, { text, check }: Answer): OutputCheck {
  if (!config.hasOutput) return { type: 'valid', value: text };
  return check ?? { type: 'invalid', problem: 'It was not checked.' };
}

function outputFailure(
  { problem, causes = [] }: Extract<OutputCheck, { type: 'invalid' }>,
  attempts: number,
): Failure {
  return createFailure('OUTPUT_PARSE_ERROR', {
    origin: 'output',
    message: `The answer does not fit the output schema: ${problem}`,
    context: { attempts },
    causes,
  });
}

function emptied(): Failure {
  const message = 'After the hooks nothing was left of the answer';
  return createFailure('EMPTY_RESPONSE', { origin: 'model', message });
}

/**
 * What had failed before an answer that leads on was overcome by it. What the model has read of its calls is overcome by a final
 * answer only: another call may fail as well.
 */
function overcome(state: RunState, { progress, turn }: Calling, isFinal: boolean): RunState {
  const { tallies, config } = state;
  const isSmooth = progress.recoveries.length === 0 && tallies.pending.length === 0;
  if (isSmooth && tallies.nudges === 0 && tallies.compactions === 0) return state;
  const ofCall = progress.recoveries.map((recovery): RunRecovery => ({ ...recovery, turn }));
  const isOpen = ({ recovery }: RunRecovery): boolean =>
    !isFinal && (recovery === 'tell-model' || config.isConducted === true);
  const pending = tallies.pending.filter(isOpen);
  const rested: RunState = changeState(state, {
    tallies: { ...tallies, nudges: 0, compactions: 0, repeats: 0, pending },
  });
  return addRecoveries(rested, [...tallies.pending.filter((one) => !isOpen(one)), ...ofCall]);
}
