import type { Answer } from '../../src/agent/event.ts';
import { messagesOf } from '../../src/agent/turn/history.ts';
import type { RunState } from '../../src/agent/state.ts';
import { findHistoryProblems } from '../../src/model/check/check-history.ts';
import type { Message } from '../../src/model/message.ts';
import type { Ledger } from '../../src/resilience/ledger.ts';
import { workOf } from './random-run.ts';
import type { Step, Work } from './random-run.ts';

/** What is wrong with a step of a run, whatever the run does. Nothing is the one good answer. */
export function findStepProblems(step: Step): readonly string[] {
  const { before, moved } = step;
  const { state } = moved;
  const problems = [...stuck(step), ...overBounds(state), ...badHistory(step), ...falseSuccess(step)];
  if (moved.invalid !== undefined) problems.push(moved.invalid.message);
  if (before === undefined) return problems;
  if (state.elapsedMs < before.elapsedMs) problems.push('elapsedMs went back');
  for (const key of Object.keys(before.ledger) as (keyof Ledger)[])
    if ((state.ledger[key] ?? 0) < (before.ledger[key] ?? 0)) problems.push(`ledger.${key} went back`);
  return problems;
}

const workByPhase: Readonly<Record<RunState['phase']['type'], readonly Work['type'][]>> = {
  'calling-model': ['call-model'],
  waiting: ['wait'],
  'running-tools': ['run-tools', 'verify-tools'],
  'waiting-for-tools': ['wait'],
  asking: ['ask-person'],
  suspended: ['suspend'],
  ended: ['finish'],
};

function stuck({ moved }: Step): readonly string[] {
  const { actions, state } = moved;
  const works = actions.filter(({ type }) => type !== 'tell');
  const work = workOf(moved);
  if (works.length !== 1 || actions.at(-1) !== work) return [`${works.length} works in ${state.phase.type}`];
  return work !== undefined && workByPhase[state.phase.type].includes(work.type)
    ? []
    : [`${work?.type} in ${state.phase.type}`];
}

function overBounds({ config, tallies, phase, ...state }: RunState): readonly string[] {
  const { limits } = config;
  const tools = 'tools' in phase ? phase.tools : phase;
  const calls = tools.type === 'running-tools' ? tools.calls : [];
  const bounds: Readonly<Record<string, readonly [number, number]>> = {
    turn: [state.turn, limits.maxTurns],
    toolCalls: [state.toolCalls, limits.maxToolCalls],
    nudges: [tallies.nudges, limits.maxNudges],
    reasks: [tallies.reasks, limits.maxReasks],
    compactions: [tallies.compactions, 1],
    continuations: [phase.type === 'calling-model' ? phase.continuations : 0, limits.maxContinuations],
    pending: [tallies.pending.length, 100],
    records: [state.records.length, 100],
    recoveries: [state.recoveries.length, 100],
    guard: [state.guard.calls.length, 24],
    attempts: [
      Math.max(0, ...calls.map((call) => (call.type === 'done' ? 0 : call.attempts.length))),
      limits.maxToolAttempts - 1,
    ],
    failedTurns: [tallies.failedTurns, limits.maxFailedTurns],
  };
  return Object.entries(bounds).flatMap(([name, [used, most]]) =>
    used <= most ? [] : [`${name}: ${used} of ${most}`],
  );
}

function badHistory({ before, moved }: Step): readonly string[] {
  const { state, actions } = moved;
  const { history, phase } = state;
  const messages = messagesOf(history);
  const problems = [...findHistoryProblems(messages)];
  if (messages.some(isEmpty)) problems.push('a message is empty');
  if (phase.type === 'calling-model' && messages.at(-1)?.role === 'assistant')
    problems.push('a model is asked to answer itself');
  const isShortened = actions.some(({ type, ...action }) => type === 'tell' && isCompaction(action));
  const kept = before === undefined ? [] : messagesOf(before.history);
  if (!isShortened && kept.some((message, index) => messages[index] !== message))
    problems.push('a message was lost');
  return problems;
}

function isCompaction(action: object): boolean {
  return 'event' in action && (action.event as { readonly type: string }).type === 'history-compacted';
}

function isEmpty({ content }: Message): boolean {
  return content.length === 0;
}

function falseSuccess({ event, moved }: Step): readonly string[] {
  const { phase, config, history } = moved.state;
  const messages = messagesOf(history);
  if (phase.type !== 'ended' || phase.end !== 'completed') return [];
  const problems: string[] = [];
  if (phase.text.trim() === '') problems.push('completed with nothing');
  const value = answerOf(event);
  if (value === undefined) return [...problems, `completed by ${event.type}`];
  if (value.toolCalls.length > 0) problems.push('completed with open calls');
  if (config.hasOutput && value.check?.type !== 'valid') problems.push('completed without a valid output');
  if (messages.at(-1)?.role !== 'assistant') problems.push('completed without an answer at the end');
  return problems;
}

function answerOf(event: Step['event']): Answer | undefined {
  if (event.type === 'answer-given') return event.answer;
  return event.type === 'attempt-finished' && event.step.type === 'success' ? event.step.value : undefined;
}

/** A call is known by its id; what may happen once only must not be run again unless somebody saw that it did not happen. */
export function findCallProblems(steps: readonly Step[]): readonly string[] {
  const problems: string[] = [];
  const ran = new Set<string>();
  const allowed = new Set<string>();
  for (const { before, event, moved } of steps) {
    for (const id of notHappened(before, event)) ran.delete(id);
    for (const id of approved(moved)) allowed.add(id);
    const work = workOf(moved);
    const { phase } = moved.state;
    if (work?.type !== 'run-tools' || phase.type !== 'running-tools') continue;
    for (const { index } of work.calls) {
      const call = phase.calls[index]?.call;
      if (call?.type !== 'ready') {
        problems.push(`call ${index} runs, but it was refused`);
        continue;
      }
      const { callId, effect, permission } = call;
      if (effect === 'once' && ran.has(callId)) problems.push(`${callId} ran twice`);
      if (permission === 'ask' && !allowed.has(callId)) problems.push(`${callId} ran without a yes`);
      ran.add(callId);
    }
  }
  return problems;
}

function notHappened(before: RunState | undefined, event: Step['event']): readonly string[] {
  const phase = before?.phase;
  if (event.type === 'tools-verified' && phase?.type === 'running-tools') {
    const found = event.found.filter(({ found: { type } }) => type === 'did-not-happen');
    return found.map(({ index }) => phase.calls[index]?.call.callId ?? '');
  }
  const asking = phase?.type === 'suspended' ? phase.back : phase;
  if ((event.type !== 'person-answered' && event.type !== 'resumed') || asking?.type !== 'asking') return [];
  const said = JSON.stringify(event.answer);
  const isNo = said.includes('did-not-happen') || said.includes('"happened":false');
  const { request, tools, index } = asking;
  return isNo && request.type === 'in-doubt' ? [tools.calls[index]?.call.callId ?? ''] : [];
}

function approved({ actions, state }: Step['moved']): readonly string[] {
  const isYes = actions.some(
    (action) =>
      action.type === 'tell' && action.event.type === 'approval-answered' && action.event.verdict === 'yes',
  );
  // What was approved runs at once.
  if (!isYes || state.phase.type !== 'running-tools') return [];
  return state.phase.calls.flatMap((call) => (call.type === 'running' ? [call.call.callId] : []));
}

/** The rungs that are told of, counted by those who hear it. */
export function countRungs(steps: readonly Step[], recovery: string): number {
  return steps
    .flatMap(({ moved }) => moved.actions)
    .filter(
      (action) =>
        action.type === 'tell' && action.event.type === 'recovery' && action.event.recovery === recovery,
    ).length;
}
