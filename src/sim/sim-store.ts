import { isRecord } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import type { Addition, NewEvent, RunStore, SessionStore, Store } from '../model/store.ts';
import type { SimStep } from './crash-points.ts';
import { reach } from './sim-process.ts';
import type { SimProcess } from './sim-process.ts';
import { callRecord, never, tell } from './world.ts';

/** The disk as one process sees it: it may fail at every operation, and the process may die before and after each. */
export function frailStore(process: SimProcess): Store {
  const { handle } = process;
  const { runs, sessions } = handle;
  const frail: RunStore = {
    ...runs,
    create: (run, owner) => perform(process, 'create', () => runs.create(run, owner)),
    claim: (runId, owner) => perform(process, 'claim', () => runs.claim(runId, owner)),
    append: (lease, addition) =>
      perform(process, stepOf(addition), async () => {
        await runs.append(lease, addition);
        noteWritten(process, addition);
      }),
    renew: (owner) => perform(process, 'renew', () => runs.renew(owner)),
    release: (lease) => perform(process, 'release', () => runs.release(lease)),
    signal: (runId, signal) =>
      perform(process, `signal ${signal.name}` as SimStep, () => runs.signal(runId, signal)), // Three names.
    find: (runId) => read(process, () => runs.find(runId)),
    events: (runId, range) => read(process, () => runs.events(runId, range)),
    signals: (runId) => read(process, () => runs.signals(runId)),
    waiting: (query) => read(process, () => runs.waiting(query)),
  };
  const frailSessions: SessionStore = {
    ...sessions,
    append: (sessionId, messages, runId) =>
      perform(process, 'session', () => sessions.append(sessionId, messages, runId)),
    messages: (sessionId, range) => read(process, () => sessions.messages(sessionId, range)),
  };
  return { ...handle, runs: frail, sessions: frailSessions };
}

/** What the process is told by its disk: noted down, since from then on it must be found again. */
export function watchedStore(process: SimProcess, store: Store): Store {
  const { runs } = store;
  return {
    ...store,
    runs: {
      ...runs,
      create: async (run, owner) => {
        const note = noteHanded(process, run);
        const created = await runs.create(run, owner);
        if (created.type === 'created') note();
        return created;
      },
      append: async (lease, addition) => {
        const note = noteHanded(process, addition);
        await runs.append(lease, addition);
        note();
      },
      signal: async (runId, signal) => {
        const kept = await runs.signal(runId, signal);
        if (signal.name === 'resume' && !process.isDead && kept !== 'unknown') noteAnswer(process, signal);
        return kept;
      },
    },
  };
}

function perform<T>(process: SimProcess, step: SimStep, work: () => Promise<T>): Promise<T> {
  if (reach(process, `before ${step}`)) return never();
  const fault = nextFault(process, step);
  if (fault === 'before') return Promise.reject(diskError(step));
  const result = work();
  tell(process.world, step);
  if (reach(process, `after ${step}`)) {
    // Whatever came of it, nobody is left to hear it.
    result.catch(() => undefined);
    return never();
  }
  return fault === 'after' ? result.then(() => Promise.reject(diskError(step))) : result;
}

function read<T>(process: SimProcess, work: () => Promise<T>): Promise<T> {
  if (process.isDead) return never();
  return nextFault(process, 'read') === undefined ? work() : Promise.reject(diskError('read'));
}

/** Whether this operation fails: with nothing written, or with everything written and nobody the wiser. */
function nextFault(process: SimProcess, what: string): 'before' | 'after' | undefined {
  const { world } = process;
  const { plan } = world;
  world.operations += 1;
  if (plan.faultShare === 0 || world.faults >= plan.maxFaults || world.isOver) return undefined;
  if (plan.random() >= plan.faultShare) return undefined;
  world.faults += 1;
  process.disturbances += 1;
  const fault = plan.random() < 0.5 ? 'before' : 'after';
  tell(world, `** the disk fails ${fault} operation ${world.operations} (${what})`);
  return fault;
}

const codes = ['STORAGE_FULL', 'STORAGE_IO', 'STORAGE_LOCKED'] as const;

function diskError(step: string): RerailError {
  const code = codes[step.length % codes.length] ?? 'STORAGE_IO';
  return RerailError.from(
    createFailure(code, { origin: 'storage', message: `The simulated disk fails at "${step}"` }),
  );
}

/** What is written says by itself which step of the run it is. */
function stepOf({ events }: Addition): SimStep {
  const [event] = events;
  if (event === undefined) return 'append ended';
  const { type, body } = event;
  if (!isRecord(body)) return 'append ended';
  if (type === 'call') return `append ${nameOf(body['effect'])}` as SimStep; // Effects are named as the steps are.
  if (type === 'sleep') return body['isOver'] === true ? 'append wake' : 'append sleep';
  if (type === 'wait') return 'append answer';
  return `append ${type}` as SimStep; // So are the other events.
}

function noteWritten(process: SimProcess, { events }: Addition): void {
  for (const { type, body } of events) {
    if (type === 'cancelled') process.disturbances += 1;
    if (type === 'call' && isRecord(body) && body['effect'] === 'model' && wasSent(body['outcome']))
      process.kept += 1;
  }
}

/** Whether an attempt at a model left the process: as the provider counts. */
function wasSent(outcome: unknown): boolean {
  const step = fieldOf(fieldOf(outcome, 'value'), 'step');
  if (fieldOf(step, 'type') === 'success') return true;
  return fieldOf(step, 'wasAdmitted') === true && fieldOf(fieldOf(step, 'failure'), 'phase') !== 'connect';
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

/** Called when it is handed over; what it gives, when it is acknowledged. */
function noteHanded(process: SimProcess, { events }: Addition): () => void {
  const { promised } = process.world;
  const order = (promised.order += 1);
  return () => {
    if (process.isDead) return;
    for (const event of events) {
      promised.events.push({ order, text: identityOf(event) });
      noteResult(process, event);
    }
  };
}

/** What tells an event from all others of its run, besides its content: that is the hash chain's affair. */
export function identityOf({ type, body }: NewEvent): string {
  if (!isRecord(body)) return type;
  const { position, effect, isOver, generation } = body;
  return `${type} ${nameOf(position)} ${nameOf(effect)} ${nameOf(isOver)} ${nameOf(generation)}`;
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function noteResult({ world }: SimProcess, { type, body }: NewEvent): void {
  if (type === 'cancelled') world.promised.isCancelled = true;
  if (type === 'began') world.promised.isCancelled = false;
  if (type !== 'call' || fieldOf(body, 'effect') !== 'tool') return;
  const end = fieldOf(fieldOf(fieldOf(body, 'outcome'), 'value'), 'end');
  const callId = fieldOf(end, 'callId');
  if (typeof callId !== 'string') return;
  callRecord(world, callId).ended.add(Number(fieldOf(fieldOf(body, 'input'), 'attempt')));
}

/** The person's answer is on record. */
function noteAnswer({ world }: SimProcess, { payload }: { readonly payload: unknown }): void {
  const answer = fieldOf(payload, 'answer');
  if (fieldOf(answer, 'given') !== true) return;
  const id = fieldOf(fieldOf(answer, 'value'), 'id');
  if (typeof id === 'string') world.promised.answers.add(id);
}
