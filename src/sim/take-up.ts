import type { RunOutcome } from '../agent/run-outcome.ts';
import type { RunAnswer } from '../agent/approval/run-answer.ts';
import type { RunRow } from '../model/store/store.ts';
import { createWorker } from '../runtime/worker/create-worker.ts';
import type { Worker } from '../runtime/worker/create-worker.ts';
import { noteOutcome } from './note-told.ts';
import type { SimProcess } from './sim-process.ts';
import { beginAnew, tell } from './world.ts';

/** How somebody wants a run to be taken up. */
export interface Wish {
  readonly answer?: RunAnswer;
  readonly byHand?: true;
  /** It has failed or was cancelled, and is to go on. */
  readonly goesOn?: true;
}

/** What came of taking it up. */
export type Told =
  | { readonly type: 'outcome'; readonly outcome: RunOutcome }
  | { readonly type: 'rejected'; readonly error: unknown }
  | { readonly type: 'died' }
  | { readonly type: 'parked' }
  | { readonly type: 'open'; readonly why: 'stuck' | 'late' | 'done' };

/** Simulated time that a run may take without an outcome. */
const maxMs = 3_600_000;
const pollMs = 10_000;

/** Takes the run up in this process, as somebody would who finds it as it is. */
export async function takeUp(process: SimProcess, wish: Wish): Promise<Told> {
  const { world, agent } = process;
  const { runId, features } = world.plan;
  if (agent === undefined) return { type: 'died' };
  const options = wish.answer === undefined ? {} : { answer: wish.answer };
  // Whoever has a wish of his own knows how the run stands.
  if (Object.keys(wish).length > 0) return resume(process, agent.resume(runId, options));
  const isNew = process.life === 1 && !process.hasBegun;
  const row = isNew ? undefined : await world.store.runs.find(runId);
  if (row === undefined) return begin(process);
  // Whoever takes it up from a suspension has its turn begun anew.
  if (row.status === 'suspended') beginAnew(world);
  if (features.has('worker') && canWorkerTake(row)) return takeUpByWorker(process);
  // Of a run that has ended otherwise than well, `resume` goes on with it; `run` only finds its end again.
  if (row.status === 'failed' || row.status === 'cancelled')
    return hear(process, agent.run(input, { runId }));
  return resume(process, agent.resume(runId));
}

function resume(process: SimProcess, resumed: Promise<RunOutcome>): Promise<Told> {
  tell(process.world, 'somebody resumes the run');
  return hear(process, resumed);
}

const input = 'Do what is planned.';

/** Nothing is on record: it is begun, or begun again where it could not be written down. */
function begin(process: SimProcess): Promise<Told> {
  const { world, agent } = process;
  const { runId, features } = world.plan;
  if (agent === undefined) return Promise.resolve({ type: 'died' });
  tell(world, 'somebody begins the run');
  const options = features.has('session') ? { runId, sessionId: 'talk' } : { runId };
  if (!process.hasBegun) {
    process.hasBegun = true;
    return hear(process, agent.run(input, options));
  }
  return hear(process, agent.resume(runId));
}

/** A worker takes what was interrupted and what is due; it asks nobody anything. */
function canWorkerTake({ status, reason }: RunRow): boolean {
  return status === 'running' || (status === 'suspended' && reason === 'long-wait');
}

/** Waits for what becomes of it, as long as the process lives. */
async function hear(process: SimProcess, promise: Promise<RunOutcome>): Promise<Told> {
  const { world } = process;
  let told: Told | undefined;
  void listen(promise, (heard) => {
    if (process.isDead) return;
    if (heard.type === 'outcome') noteOutcome(world, heard.outcome);
    told = heard;
  });
  const why = await world.clock.runUntil(() => process.isDead || told !== undefined, maxMs);
  if (process.isDead) return { type: 'died' };
  return told ?? { type: 'open', why };
}

/** What becomes of a promise, told once. Never rejects. */
export async function listen(
  promise: Promise<RunOutcome>,
  tellHeard: (heard: Extract<Told, { type: 'outcome' | 'rejected' }>) => void,
): Promise<void> {
  try {
    const outcome = await promise;
    tellHeard({ type: 'outcome', outcome });
  } catch (error) {
    tellHeard({ type: 'rejected', error });
  }
}

async function takeUpByWorker(process: SimProcess): Promise<Told> {
  const { world, agent, store, clock } = process;
  const { runId, random } = world.plan;
  if (agent === undefined || store === undefined) return { type: 'died' };
  tell(world, 'a worker looks for the run');
  let told: Told | undefined;
  const worker = createWorker([agent], store, {
    clock,
    random,
    pollMs,
    signals: false,
    onEvent: (event) => {
      if (process.isDead || told !== undefined) return;
      tell(world, `the worker: ${event.type}`);
      if (event.type === 'run-parked') told = { type: 'parked' };
      if (event.type !== 'run-finished' || event.runId !== runId) return;
      noteOutcome(world, event.outcome);
      told = { type: 'outcome', outcome: event.outcome };
    },
  });
  void worker.start();
  const why = await world.clock.runUntil(() => process.isDead || told !== undefined, maxMs);
  if (process.isDead) return { type: 'died' };
  await stopWorker(process, worker);
  if (told !== undefined) return told;
  // Somebody else in this process may have taken it, and brought it to its end: the worker has nothing to say then.
  const row = await world.store.runs.find(runId);
  const isOver = row !== undefined && row.status !== 'running' && row.status !== 'suspended';
  return isOver ? hear(process, agent.run(input, { runId })) : { type: 'open', why };
}

async function stopWorker({ world }: SimProcess, worker: Worker): Promise<void> {
  let isStopped = false;
  const stop = async (): Promise<void> => {
    await worker.stop();
    isStopped = true;
  };
  void stop();
  await world.clock.runUntil(() => isStopped, maxMs);
}
