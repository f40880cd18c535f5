import { isRecord } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import type { Addition, NewEvent, NewSignal, RunStore, SessionStore, Store } from '../model/store/store.ts';
import type { SimStep } from './crash-points.ts';
import { reach } from './sim-process.ts';
import type { SimProcess } from './sim-process.ts';
import { callRecord, never, tell } from './world.ts';
import type { World } from './world.ts';

/** The disk as one process sees it: it may fail at every operation, and the process may die before and after each. */
export function frailStore(process: SimProcess): Store {
  const { handle } = process;
  const { runs, sessions } = handle;
  const frail: RunStore = {
    ...runs,
    create: (run, owner) =>
      perform(process, isBelow(process, run.runId) ? 'create child' : 'create', async () => {
        const created = await runs.create(run, owner);
        if (created.type === 'created') process.world.runs += 1;
        return created;
      }),
    claim: (runId, owner) =>
      perform(process, isBelow(process, runId) ? 'claim child' : 'claim', () => runs.claim(runId, owner)),
    append: (lease, addition) =>
      perform(process, stepOf(process, lease.runId, addition), async () => {
        await runs.append(lease, addition);
        noteWritten(process, addition);
      }),
    renew: (owner) => perform(process, 'renew', () => runs.renew(owner)),
    release: (lease) => perform(process, 'release', () => runs.release(lease)),
    signal: (runId, signal) =>
      perform(process, signalStep(process, runId, signal), () => runs.signal(runId, signal)),
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
        const note = noteHanded(process, run.runId, run);
        const created = await runs.create(run, owner);
        if (created.type === 'created') note();
        return created;
      },
      append: async (lease, addition) => {
        const note = noteHanded(process, lease.runId, addition);
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

/** Whether a run is one of several agents', and not the one that somebody began. */
function isBelow({ world }: SimProcess, runId: string): boolean {
  return runId !== world.plan.runId;
}

function signalStep(process: SimProcess, runId: string, { name }: NewSignal): SimStep {
  if (!isBelow(process, runId)) return `signal ${name}` as SimStep; // Three names.
  return name === 'cancel' ? 'signal child-cancel' : 'signal child-resume';
}

/** What is written says by itself which step of the run it is: of several that are written together, the last. */
function stepOf(process: SimProcess, runId: string, { events }: Addition): SimStep {
  const event = events.at(-1);
  const isChild = isBelow(process, runId);
  const ended = isChild ? 'append child-ended' : 'append ended';
  if (event === undefined) return ended;
  const { type, body } = event;
  if (!isRecord(body) || type === 'ended') return ended;
  if (type === 'suspended' && isChild) return 'append child-suspended';
  if (type === 'call') return callStep(process, body);
  if (type === 'sleep') return body['isOver'] === true ? 'append wake' : 'append sleep';
  if (type === 'wait') return 'append answer';
  return `append ${type}` as SimStep; // So are the other events.
}

function callStep({ world }: SimProcess, { effect, outcome }: Readonly<Record<string, unknown>>): SimStep {
  const { type } = world.plan.top;
  if (effect === 'conduct') return conductStep(world);
  const end = fieldOf(fieldOf(outcome, 'value'), 'end');
  if (effect !== 'tool' || fieldOf(end, 'child') === undefined) return `append ${nameOf(effect)}` as SimStep; // Effects are named as the steps are.
  if (fieldOf(end, 'type') === 'waiting') return 'append node-waiting';
  return type === 'team' ? 'append job' : 'append node';
}

/** What comes next is decided: who has the conversation, which step, or which node. */
function conductStep({ plan, calls }: World): SimStep {
  const { top } = plan;
  if (top.type === 'hand-off') return 'append hop';
  if (top.type !== 'plan') return 'append conduct';
  const hasFailed = top.steps.some(({ callId }) => (calls.get(callId)?.failures ?? 0) > 0);
  return hasFailed ? 'append replan' : 'append decision';
}

function noteWritten(process: SimProcess, { events }: Addition): void {
  for (const { type, body } of events) {
    if (type === 'cancelled') {
      process.disturbances += 1;
      process.world.promised.wasCancelled = true;
    }
    if (type !== 'call' || fieldOf(body, 'effect') !== 'model') continue;
    if (wasSent(fieldOf(body, 'outcome'))) process.kept += 1;
    noteAsked(process.world, fieldOf(body, 'outcome'));
  }
}

function noteAsked(world: World, outcome: unknown): void {
  const calls = fieldOf(fieldOf(fieldOf(fieldOf(outcome, 'value'), 'step'), 'value'), 'toolCalls');
  for (const call of Array.isArray(calls) ? calls : []) {
    const callId = fieldOf(call, 'callId');
    if (typeof callId === 'string') callRecord(world, callId).isOnRecord = true;
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
function noteHanded(process: SimProcess, runId: string, { events }: Addition): () => void {
  const { promised } = process.world;
  const order = (promised.order += 1);
  return () => {
    if (process.isDead) return;
    for (const event of events) {
      promised.events.push({ runId, order, text: identityOf(event) });
      noteResult(process, runId, event);
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

function noteResult(process: SimProcess, runId: string, { type, body }: NewEvent): void {
  const { world } = process;
  if (!isBelow(process, runId)) noteCancelled(world, type);
  if (type !== 'call' || fieldOf(body, 'effect') !== 'tool') return;
  const end = fieldOf(fieldOf(fieldOf(body, 'outcome'), 'value'), 'end');
  const callId = fieldOf(end, 'callId');
  if (typeof callId !== 'string') return;
  const step = `${runId} ${callId}`;
  callRecord(world, world.steps.has(step) ? step : callId).ended.add(
    Number(fieldOf(fieldOf(body, 'input'), 'attempt')),
  );
}

function noteCancelled({ promised, lives, clock }: World, type: string): void {
  if (type === 'began') promised.cancelled = undefined;
  if (type !== 'cancelled') return;
  promised.cancelled = { life: lives, atMs: clock.monotonicMs() };
}

/** The person's answer is on record. */
function noteAnswer({ world }: SimProcess, { payload }: { readonly payload: unknown }): void {
  const answer = fieldOf(payload, 'answer');
  if (fieldOf(answer, 'given') !== true) return;
  const id = fieldOf(fieldOf(answer, 'value'), 'id');
  if (typeof id === 'string') world.promised.answers.add(id);
}
