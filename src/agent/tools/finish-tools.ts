import { createFailure } from '../../errors/failure.ts';
import type { Message } from '../../model/message.ts';
import { isToolOutage, observeTool, withdrawnTools } from '../../resilience/tool-breaker.ts';
import { changeState } from '../change-state.ts';
import { resultPart } from './cancel.ts';
import { addMessages } from '../turn/history.ts';
import { defaultRejectionLimits, judgeRejections } from '../approval/approval.ts';
import { endRun, failRun } from '../turn/end.ts';
import { looksEmpty } from '../turn/empty-result.ts';
import { observeCalls } from '../turn/loop-guard.ts';
import type { LoopVerdict } from '../turn/loop-guard.ts';
import type { Moved } from '../moved.ts';
import { noteMessage } from '../notes.ts';
import { maxPending } from '../turn/overcome.ts';
import { own } from '../report/report-words.ts';
import { didBeforeFailing } from '../run-effects.ts';
import type { RunEvent } from '../run-event.ts';
import type { RunRecovery } from '../run-outcome.ts';
import type { CallState, RunningTools, RunState, Tallies, Withdrawal } from '../state.ts';
import type { ToolEnd } from './tool-call.ts';
import { beginTurn } from '../turn/turn.ts';

type Done = Extract<CallState, { type: 'done' }>;

/** Every call of the turn is settled: the model is informed, in the order in which it called, and what it shows is judged. */
export function finishTools(given: RunState, tools: RunningTools, tellings: readonly RunEvent[]): Moved {
  const done = tools.calls.filter((call): call is Done => call.type === 'done');
  const isConducted = given.config.isConducted === true;
  const did = isConducted ? [] : didBeforeFailing(done.map(({ end }) => end));
  const answered = changeState(given, {
    history: addMessages(given.history, tools.answer, resultsOf(given, done), ...did),
  });
  // What a flow or a plan does about failures is its own affair.
  if (isConducted) {
    return endedBy(answered, done, tellings) ?? beginTurn(answered, tellings);
  }
  const { state, events, notes } = judgeTools(tally(answered, done), done);
  const told = events.length === 0 ? tellings : [...tellings, ...events];
  const ended = endedBy(state, done, told) ?? endedWith(state, done, told);
  if (ended !== undefined) return ended;
  const { guard, verdict } = judgeLoop(state, done);
  const watched = changeState(state, { guard });
  if (verdict.type === 'stop') return stopLoop(watched, verdict, told);
  const after =
    verdict.type === 'fine'
      ? { state: watched, events: told, notes }
      : breakLoop(watched, verdict, { events: told, notes });
  return beginTurn(say(after.state, after.notes), after.events);
}

function resultsOf(state: RunState, done: readonly Done[]): Message {
  return { role: 'tool', content: done.map((call) => resultPart(state, call)) };
}

function say(state: RunState, notes: readonly string[]): RunState {
  if (notes.length === 0) return state;
  return changeState(state, { history: addMessages(state.history, noteMessage(notes.join(' '))) });
}

/** Counts what went well and what did not, in a row. */
function tally(state: RunState, done: readonly Done[]): RunState {
  const { tallies } = state;
  const succeeded: Record<string, number> = { ...tallies.succeeded };
  let worked = 0;
  for (const { end } of done) {
    if (end.type !== 'ok') continue;
    worked += 1;
    succeeded[end.name] = (own(succeeded, end.name) ?? 0) + 1;
  }
  const told = worked === done.length ? [] : toldOf(state, done);
  const { nudges, reasks, compactions, rejections } = tallies;
  const counted: Tallies = {
    nudges,
    reasks,
    compactions,
    toolFailures: worked === done.length && hasNone(tallies.toolFailures) ? {} : countFailures(state, done),
    failedTurns: worked > 0 || done.length === 0 ? 0 : tallies.failedTurns + 1,
    pending: told.length === 0 ? tallies.pending : [...tallies.pending, ...told].slice(-maxPending),
    rejections,
    succeeded,
  };
  return changeState(state, { tallies: counted });
}

function hasNone(counts: Readonly<Record<string, number>>): boolean {
  return Object.keys(counts).length === 0;
}

function countFailures({ tallies, config }: RunState, done: readonly Done[]): Tallies['toolFailures'] {
  const toolFailures: Record<string, number> = { ...tallies.toolFailures };
  // Several bad calls of one answer are one mistake: the model does not know it yet.
  const failed = new Set<string>();
  const worked = new Set<string>();
  for (const { end } of done) {
    if (end.type === 'ok') {
      worked.add(end.name);
      delete toolFailures[end.name];
    } else if (countsAgainst(end) && Object.hasOwn(config.tools, end.name)) {
      failed.add(end.name);
    }
  }
  for (const name of failed) if (!worked.has(name)) toolFailures[name] = (own(toolFailures, name) ?? 0) + 1;
  return toolFailures;
}

/**
 * Failures of which the model is informed now: an answer will show that it found its way round them. A no is no failure. A flow or a
 * plan says itself what it does about them.
 */
function toldOf({ turn, config }: RunState, done: readonly Done[]): readonly RunRecovery[] {
  const told: RunRecovery[] = [];
  if (config.isConducted === true) return told;
  for (const { end } of done) {
    const { failure, durationMs: lostMs, type } = end;
    if (failure === undefined || type === 'denied') continue;
    told.push({ failure, recovery: 'tell-model', attempts: 1, lostMs, lostTokens: 0, turn });
  }
  return told;
}

/** An outage is the breaker's business, which gives the tool back; a no is a person's. */
function countsAgainst({ type, failure }: ToolEnd): boolean {
  return type !== 'denied' && !(failure !== undefined && isToolOutage(failure.code));
}

interface Judged {
  readonly state: RunState;
  readonly events: readonly RunEvent[];
  readonly notes: readonly string[];
}

/** Tools that fail too often are taken away for a while, or for good. */
function judgeTools(state: RunState, done: readonly Done[]): Judged {
  if (done.every(({ end }) => end.type === 'ok') && Object.keys(state.breakers).length === 0) {
    return { state, events: [], notes: [] };
  }
  const { config, tallies, elapsedMs } = state;
  let { breakers } = state;
  for (const { end } of done) {
    if (Object.hasOwn(config.tools, end.name)) breakers = observeTool(breakers, { end, nowMs: elapsedMs });
  }
  const withdrawn: Record<string, Withdrawal> = { ...state.withdrawn };
  for (const { name, untilMs, reason } of withdrawnTools(breakers, elapsedMs)) {
    withdrawn[name] ??= { reason, by: 'breaker', untilMs };
  }
  for (const [name, failures] of Object.entries(tallies.toolFailures)) {
    if (failures < config.limits.maxToolFailures) continue;
    withdrawn[name] ??= { reason: `it failed ${failures} times in a row`, by: 'failures' };
  }
  return announce(changeState(state, { breakers }), withdrawn, []);
}

/** Reports to the listener and the model which tools were withdrawn. */
function announce(
  state: RunState,
  withdrawn: Readonly<Record<string, Withdrawal>>,
  before: readonly string[],
): Judged {
  const events: RunEvent[] = [];
  const notes = [...before];
  for (const [name, { reason, untilMs }] of Object.entries(withdrawn)) {
    if (Object.hasOwn(state.withdrawn, name)) continue;
    const event = { type: 'tool-withdrawn', turn: state.turn, name, reason } as const;
    // A breaker counts the time of the run; the listener has a clock.
    const leftMs = untilMs === undefined ? undefined : Math.max(0, untilMs - state.elapsedMs);
    events.push(leftMs === undefined ? event : { ...event, untilMs: state.wallMs + leftMs });
    const until = leftMs === undefined ? '' : ` for ${Math.ceil(leftMs / 1000)} s`;
    notes.push(`The tool "${name}" is not available${until}: ${reason}. Go on without it.`);
  }
  return { state: changeState(state, { withdrawn }), events, notes };
}

/** What ends the run whatever else is going on. */
function endedBy(state: RunState, done: readonly Done[], events: readonly RunEvent[]): Moved | undefined {
  const { config, tallies, turn } = state;
  const fatal = done.find(
    ({ call, end }) =>
      // A call that was refused has not reached the tool.
      call.type === 'ready' &&
      end.failure !== undefined &&
      config.tools[end.name]?.onError === 'abort' &&
      end.type !== 'denied',
  );
  if (fatal?.end.failure !== undefined) {
    const { failure } = fatal.end;
    const reason = `a failure of "${fatal.end.name}" ends the run, as its definition says`;
    return failRun(state, failure, [
      ...events,
      { type: 'recovery', turn, failure, recovery: 'fail', reason },
    ]);
  }
  const { maxRejections } = config.limits;
  const { maxSameCall } = defaultRejectionLimits;
  const rejected = judgeRejections(tallies.rejections, { maxRejections, maxSameCall });
  if (rejected.type === 'stop') {
    const message = `The run ends because ${rejected.why}`;
    const failure = createFailure('PERMISSION_DENIED', { origin: 'tool', message, sideEffect: 'none' });
    return endRun(state, { type: 'ended', end: 'stopped', reason: 'rejected', failure }, events);
  }
  if (config.isConducted === true || tallies.failedTurns < config.limits.maxFailedTurns) return undefined;
  const failure = lastFailure(
    done.map(({ end }) => end),
    tallies.failedTurns,
  );
  const reason = `no call succeeded in ${tallies.failedTurns} turns in a row`;
  return failRun(state, failure, [...events, { type: 'recovery', turn, failure, recovery: 'fail', reason }]);
}

/** A call that says of itself that nothing follows it. */
function endedWith(state: RunState, done: readonly Done[], events: readonly RunEvent[]): Moved | undefined {
  const last = done.find(({ end }) => end.type === 'ok' && state.config.tools[end.name]?.isLast === true);
  if (last === undefined) return undefined;
  const { content } = last.end;
  const text = typeof content === 'string' ? content : '';
  return endRun(state, { type: 'ended', end: 'completed', text, output: text }, events);
}

function lastFailure(ends: readonly ToolEnd[], failedTurns: number): NonNullable<ToolEnd['failure']> {
  const failure = ends.findLast((end) => end.failure !== undefined)?.failure;
  const message = `In ${failedTurns} turns in a row no tool call succeeded`;
  if (failure === undefined) return createFailure('TOOL_EXECUTION_ERROR', { origin: 'tool', message });
  return createFailure(failure.code, {
    ...failure,
    message: `${message}. The last one: ${failure.message}`,
    context: { ...failure.context, failedTurns },
  });
}

function judgeLoop(state: RunState, done: readonly Done[]): ReturnType<typeof observeCalls> {
  const calls = done.map(({ call, end }) => ({
    name: end.name,
    hash: call.type === 'ready' ? call.hash : `${end.name}:${end.resultHash}`,
    resultHash: end.resultHash,
    isError: end.type !== 'ok',
    isEmpty: looksEmpty(end.content),
    repeats: state.config.tools[end.name]?.repeats,
  }));
  return observeCalls(state.guard, calls, state.config.loop);
}

type Found = Exclude<LoopVerdict, { type: 'fine' }>;

function loopFailure({ reason, pattern, tools, count }: Found): ReturnType<typeof createFailure> {
  return createFailure('ENDLESS_LOOP', {
    origin: 'agent',
    message: reason,
    context: { pattern, tools, count },
  });
}

function stopLoop(state: RunState, verdict: Found, events: readonly RunEvent[]): Moved {
  const failure = loopFailure(verdict);
  const { turn } = state;
  return endRun(state, { type: 'ended', end: 'stopped', reason: 'loop', failure }, [
    ...events,
    { type: 'failure', turn, failure },
    { type: 'recovery', turn, failure, recovery: 'stop', reason: verdict.reason },
  ]);
}

/** The model is informed first; a tool that it still keeps calling is withdrawn. */
function breakLoop(
  state: RunState,
  verdict: Found,
  { events, notes }: Pick<Judged, 'events' | 'notes'>,
): Judged {
  const { turn } = state;
  const failure = loopFailure(verdict);
  const isNudge = verdict.type === 'nudge';
  const rung: RunEvent = {
    type: 'recovery',
    turn,
    failure,
    recovery: isNudge ? 'nudge' : 'withdraw-tool',
    reason: verdict.reason,
  };
  const failed: RunEvent = { type: 'failure', turn, failure };
  if (isNudge) {
    const words = `${verdict.reason}. Repeating it will not help: do something else, or answer with what you have.`;
    return { state, events: [...events, failed, rung], notes: [...notes, words] };
  }
  const withdrawn: Record<string, Withdrawal> = { ...state.withdrawn };
  for (const name of verdict.tools) {
    if (Object.hasOwn(state.config.tools, name)) withdrawn[name] ??= { reason: verdict.reason, by: 'loop' };
  }
  const announced = announce(state, withdrawn, notes);
  return { ...announced, events: [...events, failed, rung, ...announced.events] };
}
