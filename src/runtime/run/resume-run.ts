import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { RunRow } from '../../model/store/store.ts';
import { takePlace } from '../children/child-place.ts';
import { labelled } from '../drive.ts';
import type { DriveInput } from '../drive.ts';
import { isAnsweredBy, questionOf, readRequest } from './question-of.ts';
import { configIn } from '../transfer/replay-parts.ts';
import { payloadOf, placeOf } from './resume-payload.ts';
import type { ResumePayload } from './resume-payload.ts';
import {
  bareFailure,
  driverVersion,
  endRun,
  forget,
  joinRun,
  letGoOutcome,
  obeySignal,
  refusedOutcome,
  reopen,
  unknownRun,
} from './held-runs.ts';
import type { HeldRuns } from './held-runs.ts';
import { createLiveRun, publish } from './live-run.ts';
import type { LiveRun } from './live-run.ts';
import { checkRunOptions } from './run-input.ts';
import type { ResumeOptions } from './run-input.ts';
import { existsError } from '../record/run-keeper.ts';
import type { ReadRun, RunKeeper, Taken } from '../record/run-keeper.ts';
import { demandTools, partsOfRun, runToolsIn } from './run-parts.ts';
import { startInSession } from './run-session.ts';
import { sendSignal } from './send-signal.ts';
import { startRun } from './start-run.ts';
import { watchRun } from '../watch/run-watchers.ts';
import { answerIn } from './take-answer.ts';

/** Continues a run: from memory, or from its record. */
export async function resumeRun(held: HeldRuns, runId: string, options: ResumeOptions): Promise<RunOutcome> {
  checkRunOptions(options, 'resume');
  const { engine, runs, keeper } = held;
  const live = runs.get(runId);
  if (live === undefined) {
    if (keeper === undefined) throw unknownRun(held, runId);
    return resumeStored(held, keeper, { runId, options });
  }
  const { ended, state, unbegun, provenance } = live;
  if (ended !== undefined && unbegun !== undefined) {
    return beginAgain(held, live, options).catch((error: unknown) => {
      if (error !== existsError || keeper === undefined) throw error;
      runs.delete(runId);
      return resumeStored(held, keeper, { runId, options });
    });
  }
  const request = ended?.type === 'suspended' ? ended.request : undefined;
  const own = partsOfRun(held, options) ?? live.parts;
  const taking = answerIn(own ?? held.parts, options, { runId, request });
  const said = taking instanceof Promise ? await taking : taking;
  // A schema took its time, and the run has moved on meanwhile.
  if (live.ended !== ended || runs.get(runId) !== live) return resumeRun(held, runId, options);
  // Still under way: the caller that resumes it waits for the same end.
  if (ended === undefined || state === undefined) return joinRun(held, live, { options }).outcome;
  if (ended.type === 'completed' || ended.type === 'stopped') return ended;
  live.parts = own;
  const payload = payloadOf(held, options, { answer: said, about: questionIn(ended), provenance, live });
  reawake(held, live, options);
  if (ended.type === 'suspended')
    await engine.signal(runId, 'resume', { id: held.parts.newId(), payload: payload as unknown as Json });
  else await startAgain(held, live, payload);
  return live.outcome.promise;
}

function reawake(held: HeldRuns, live: LiveRun, options: ResumeOptions): void {
  const { onEvent, signal } = options;
  takePlace(live, options);
  live.isCancelled = false;
  forget(held, live.runId);
  reopen(live);
  watchRun(held.parts, live, onEvent);
  obeySignal(held, live, signal);
}

/**
 * It could not be written down that it begins; perhaps it can now. Rejects with `existsError` where it had been written down after
 * all, without a report.
 */
export async function beginAgain(held: HeldRuns, live: LiveRun, options: ResumeOptions): Promise<RunOutcome> {
  const { unbegun: start, sessionId } = live;
  if (start === undefined) return live.outcome.promise;
  const { signal } = options;
  reawake(held, live, options);
  try {
    const isWhole = sessionId === undefined || start.session !== undefined;
    await startRun(
      held,
      live,
      isWhole ? start : await startInSession(held, live, { start, sessionId, signal }),
    );
  } catch (error) {
    if (error === existsError) throw error;
    endRun(held, live, letGoOutcome(held, live, classifyFailure(error, 'storage')));
  }
  return live.outcome.promise;
}

/** After an end that can be continued from: the next generation begins with the state that is left. */
async function startAgain(held: HeldRuns, live: LiveRun, payload: ResumePayload): Promise<void> {
  const { runId, state, session } = live;
  if (state === undefined) return;
  const input: DriveInput = {
    type: 'resume',
    state: labelled(live, state),
    ...payload,
    ...(session === undefined ? {} : { session }),
  };
  const after = held.engine.generationOf(runId);
  await held.engine.start(input as unknown as Json, { runId, version: driverVersion, after }); // The state is JSON.
}

function questionIn(ended: RunOutcome): string | undefined {
  if (ended.type !== 'suspended' || ended.request === undefined) return undefined;
  return placeOf(ended.request, ended.runId);
}

interface Resuming {
  readonly runId: string;
  readonly options: ResumeOptions;
}

async function resumeStored(
  held: HeldRuns,
  keeper: RunKeeper,
  { runId, options }: Resuming,
): Promise<RunOutcome> {
  const { parts, runs } = held;
  const row = await keeper.store.runs.find(runId);
  if (row === undefined) throw unknownRun(held, runId);
  checkAgent(held, row);
  const own = { parts: partsOfRun(held, options) };
  // The answer is recorded before it is acted on. A second answer to the same question is too late.
  if (row.status === 'suspended') {
    const { about, provenance, tools, request } = await questionOf(keeper.store, row);
    demandTools(runId, tools, own.parts ?? parts);
    const answer = await answerIn(own.parts ?? parts, options, { runId, request: readRequest(request) });
    const place = { answer, about: options.answer === undefined ? undefined : about, provenance, live: own };
    const payload = payloadOf(held, options, place) as unknown as Json; // Plain data.
    await sendSignal(keeper, runId, { id: `resume:${row.headSeq}`, name: 'resume', payload });
  }
  const asked = row.status === 'parked' ? (await questionOf(keeper.store, row)).request : undefined;
  // What means nothing is refused before the run is resumed.
  if (row.status !== 'suspended')
    await answerIn(own.parts ?? parts, options, { runId, request: readRequest(asked) });
  const known = runs.get(runId); // Another process may have been quicker.
  if (known !== undefined) return joinRun(held, known, { options }).outcome;
  const live = createLiveRun(runId, parts.config.limits.maxConcurrentTools);
  live.parts = own.parts;
  takePlace(live, options);
  runs.set(runId, live);
  watchRun(parts, live, options.onEvent);
  await takeUpRun(held, live, options);
  obeySignal(held, live, options.signal);
  const outcome = await live.outcome.promise;
  // What was parked in the middle of a question asks it again; the answer to it is here.
  const isAsking = row.status === 'parked' && outcome.type === 'suspended' && options.answer !== undefined;
  if (!isAsking || !(live.isUntouched || isAnsweredBy(outcome.request, asked, options.answer)))
    return outcome;
  return resumeRun(held, runId, options);
}

function checkAgent({ parts }: HeldRuns, { runId, agent }: RunRow): void {
  if (agent === parts.name) return;
  throw configError(
    `The run "${runId}" belongs to the agent "${agent}", this one is "${parts.name}": resume it with that agent`,
  );
}

/** The same as `loadRun`. Where it cannot, the run is not run here, and callers that have joined it meanwhile learn of that. */
export async function takeUpRun(held: HeldRuns, live: LiveRun, options?: ResumeOptions): Promise<void> {
  try {
    await loadRun(held, live, options);
  } catch (error) {
    endRun(held, live, refusedOutcome(held, live, error));
    // A lease that is renewed all the same would keep everybody else from it.
    await held.keeper?.release(live.runId);
    throw error;
  }
}

/** Takes a run from its record and runs it on; of one that has ended it finds the outcome again. Rejects where it cannot. */
export async function loadRun(held: HeldRuns, live: LiveRun, options?: ResumeOptions): Promise<void> {
  const { keeper, engine } = held;
  const { runId } = live;
  const row = await keeper?.store.runs.find(runId);
  if (keeper === undefined || row === undefined) throw unknownRun(held, runId);
  checkAgent(held, row);
  live.sessionId = row.sessionId;
  live.isUntouched = true;
  live.isFound = row.status === 'suspended' && options === undefined && live.depth === 0;
  if (live.isFound) live.isCancelled = false;
  // To look at what has ended takes no lease: it does not change.
  if (isFinal(row, options)) return endRun(held, live, await readEnd(held, live, await keeper.read(row)));
  const taken = await keeper.take(runId);
  if (taken.type === 'unknown') throw unknownRun(held, runId);
  if (taken.type === 'held') throw heldElsewhere(runId, taken.untilMs);
  demandTools(runId, runToolsIn(configIn(taken.snapshot.input)), live.parts ?? held.parts);
  live.provenance = taken.snapshot.provenance;
  if (taken.row.status !== 'completed' && taken.row.status !== 'stopped')
    await showChanges(held, live, taken);
  if (!hasEnded(taken.row)) return withWish(held, live, () => engine.adopt(taken.snapshot));
  const outcome = await readEnd(held, live, taken);
  if (isFinal(taken.row, options)) {
    await keeper.release(runId);
    return endRun(held, live, outcome);
  }
  engine.adopt({ ...taken.snapshot, end: { type: 'ended', result: null } });
  live.ending = undefined;
  live.isUntouched = false; // Its next generation is on record, and so is whatever ends it.
  return withWish(held, live, () =>
    startAgain(
      held,
      live,
      payloadOf(held, options ?? {}, { answer: { given: false }, provenance: live.provenance, live }),
    ),
  );
}

/** Cancellation may have been requested meanwhile: that is recorded like any other request, or the end would have no cause on record. */
async function withWish(held: HeldRuns, live: LiveRun, takeUp: () => void | Promise<void>): Promise<void> {
  const isWished = live.isCancelled;
  live.isCancelled = false;
  await takeUp();
  if (isWished) held.wishEnd(live.runId, 'cancellation was requested while it was being resumed');
}

function hasEnded({ status }: RunRow): boolean {
  return status !== 'running' && status !== 'suspended' && status !== 'parked';
}

/** Whether nothing continues from there: it is over, or it is only asked for. */
function isFinal(row: RunRow, options: ResumeOptions | undefined): boolean {
  return hasEnded(row) && (options === undefined || row.status === 'completed' || row.status === 'stopped');
}

/** Finds the outcome of a run that has ended, from its record alone. */
async function readEnd(
  held: HeldRuns,
  live: LiveRun,
  { snapshot, row, endFailure }: ReadRun,
): Promise<RunOutcome> {
  if (endFailure !== undefined) return bareFailure(held, live, endFailure);
  const replayed = await held.engine.replay(snapshot);
  if (live.ending !== undefined) return live.ending;
  await held.keeper?.release(live.runId);
  if (replayed.type === 'broken') throw RerailError.from(replayed.failure);
  const message = `The record of run "${live.runId}" does not lead to its end (${row.status}): it leads to "${replayed.type}"`;
  throw RerailError.from(
    createFailure('STORAGE_CORRUPT', { origin: 'storage', message, context: { runId: live.runId } }),
  );
}

/** Other code than the run was started with: reported, and refused where the caller wants that. */
async function showChanges(
  { keeper, parts }: HeldRuns,
  live: LiveRun,
  { differences }: Extract<Taken, { type: 'taken' }>,
): Promise<void> {
  if (differences.length === 0 || keeper === undefined) return;
  const { runId } = live;
  if (parts.onChange === 'strict') {
    await keeper.release(runId);
    throw changedAgent(runId, differences);
  }
  await keeper.note(runId, { type: 'changed', body: { differences } });
  publish(live, { type: 'agent-changed', differences });
}

function changedAgent(runId: string, differences: readonly string[]): RerailError {
  return RerailError.from(
    createFailure('INVALID_STATE', {
      origin: 'agent',
      message: `The run "${runId}" was started with another agent: ${differences.join('; ')}`,
      hint: 'Resume it with the code that started it, or create the agent with `onChange: "warn"` to continue anyway.',
      context: { runId, differences: [...differences] },
    }),
  );
}

function heldElsewhere(runId: string, untilMs: number): RerailError {
  return RerailError.from(
    createFailure('STORAGE_LOCKED', {
      origin: 'storage',
      message: `The run "${runId}" is running in another process, until ${new Date(untilMs).toISOString()} at least`,
      hint: 'Wait for that process, or stop it: its lease then expires.',
      context: { runId, untilMs },
    }),
  );
}
