import { randomUUID } from 'node:crypto';
import { assert } from '../../base/assert.ts';
import type { JournalEntry, RunEnd } from '../../runtime/record/journal.ts';
import { signalsTakenBy } from '../../runtime/record/journal.ts';
import type { BeginningRun, Recorder } from '../../runtime/record/recorder.ts';
import { inboxOf, maxSignals, outside, standStill } from './carried-run.ts';
import type { AgentHost, CarriedRun } from './carried-run.ts';
import { collectSoon } from './collect-letters.ts';
import { attributesOf, workflowIdOf } from './order.ts';
import type { Order } from './order.ts';
import { stepNames } from './run-log.ts';

/** Writes what happens to a run into the steps of its workflow. */
export function createStepRecorder(host: () => AgentHost): Recorder {
  return {
    begin: (next) => beginNext(host(), next),
    keep: async (runId, entry) => keep(host(), findRun(host(), runId), entry),
    // Both are on record before the program's engine learns of them: see `collect-letters.ts`.
    cancel: () => Promise.resolve(),
    signal: () => Promise.resolve('added'),
    end: async (runId, end) => leave(findRun(host(), runId), end),
  };
}

/** Starts the workflow of a generation; does nothing where it exists. */
export async function startGeneration(
  host: AgentHost,
  given: Omit<Order, 'token' | 'agent' | 'application'>,
): Promise<void> {
  const { dbos, workflow, fresh, setup, application } = host;
  const order: Order = { ...given, application, agent: setup.name, token: randomUUID() };
  fresh.add(order.token);
  try {
    await outside(() =>
      dbos.startWorkflow(workflow, {
        workflowID: workflowIdOf(order),
        workflowAttributes: attributesOf(order),
      })(JSON.stringify(order)),
    );
  } finally {
    fresh.delete(order.token);
  }
}

function findRun({ runs }: AgentHost, runId: string): CarriedRun {
  const run = runs.get(runId);
  assert(run !== undefined, `Something of run "${runId}" must be recorded, but no workflow is running it`);
  return run;
}

async function keep(host: AgentHost, run: CarriedRun, entry: JournalEntry): Promise<void> {
  if (entry.type !== 'call') {
    await write(host, run, entry);
  } else if (!run.recorded.delete(entry.position)) {
    if (run.troubles.has(entry.position)) throw trouble(run, run.troubles.get(entry.position));
    // The engine's own watch has ended the call, and its step is still at work.
    run.answered.add(entry.position);
    await write(host, run, entry);
  }
  const taken = signalsTakenBy(entry);
  if (taken.length === 0) return;
  const wasFull = run.inbox.all().length >= maxSignals;
  run.inbox.remove(taken);
  if (wasFull) collectSoon(host, run);
}

async function write({ dbos }: AgentHost, run: CarriedRun, entry: JournalEntry): Promise<void> {
  const name = entry.type === 'call' ? entry.effect : stepNames[entry.type];
  const text = JSON.stringify(entry);
  try {
    await run.inWorkflow(() => dbos.runStep(() => Promise.resolve(text), { name, retriesAllowed: false }));
  } catch (error) {
    throw trouble(run, error);
  }
}

function trouble(run: CarriedRun, error: unknown): unknown {
  run.trouble ??= error;
  return error;
}

/** The next generation is a workflow of its own. It takes the run over, so this one's engine never learns that it has started. */
async function beginNext(host: AgentHost, next: BeginningRun): Promise<void> {
  const run = findRun(host, next.runId);
  run.isLeaving = true;
  await quiet(run);
  await startGeneration(host, { ...next, ...inboxOf(run), isRestart: true });
  run.settle({ type: 'restarted' });
  return standStill();
}

/** The workflow returns, and DBOS writes that down. Until it has, the run is not reported as ended. */
async function leave(run: CarriedRun, end: RunEnd): Promise<void> {
  run.isLeaving = true;
  await quiet(run);
  run.settle({ type: 'over', end, ...inboxOf(run) });
  return standStill();
}

/** What is being received or reported ends first: a workflow that has returned can write nothing more. */
async function quiet({ collecting, noting }: CarriedRun): Promise<void> {
  await Promise.all([collecting, noting]);
}
