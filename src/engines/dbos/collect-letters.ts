import { wait } from '../../base/abort.ts';
import { maxSignals, standStill } from './carried-run.ts';
import type { AgentHost, CarriedRun } from './carried-run.ts';
import { topics } from './mail.ts';
import { letterIn } from './order.ts';
import type { Letter } from './order.ts';

/**
 * Receives what lies in the mailbox of a run. DBOS marks a message as received in the same write as the step that received it,
 * so a letter is either in the mailbox or in the log, never in both and never in neither.
 */
export function collect(host: AgentHost, run: CarriedRun): Promise<void> {
  const next = run.collecting.then(() => collectNow(host, run));
  // Reported to the caller; the next one looks again.
  run.collecting = next.catch(() => undefined);
  return next;
}

/** The same without waiting. What goes wrong here is found by the next look, or by the next step of the run. */
export function collectSoon(host: AgentHost, run: CarriedRun): void {
  collect(host, run).catch(() => undefined);
}

async function collectNow(host: AgentHost, run: CarriedRun): Promise<void> {
  if (run.isLeaving) return;
  const unread = (await host.mail.count([run.workflowId])).get(run.workflowId);
  if (unread === undefined) return;
  const room = maxSignals - run.inbox.all().length;
  await receive(host, run, { topic: topics.cancel, letters: unread.cancellations });
  await receive(host, run, { topic: topics.signal, letters: Math.min(unread.signals, room) });
}

interface Receiving {
  readonly topic: string;
  readonly letters: number;
}

async function receive(host: AgentHost, run: CarriedRun, { topic, letters }: Receiving): Promise<void> {
  for (let number = 0; number < letters && !run.isLeaving; number += 1) {
    const text = await run
      .inWorkflow(() => host.dbos.recv(topic, 0))
      .catch((error: unknown) => giveUp(run, error));
    if (typeof text !== 'string') return;
    deliver(host, run, letterIn(text));
  }
}

/** DBOS waits for its database by itself; what it throws is that the workflow is no longer ours to carry. */
function giveUp(run: CarriedRun, error: unknown): never {
  run.trouble ??= error;
  run.fail(error);
  throw error;
}

/** Gives a letter that is on record to the run. */
export function deliver({ memory, setup }: AgentHost, run: CarriedRun, letter: Letter): void {
  const { runId } = run.order;
  if (letter.type === 'cancel') {
    run.cancelled ??= { reason: letter.reason, atMs: setup.clock.monotonicMs() };
    if (run.isAdopted) void memory.cancel(runId, letter.reason);
    return;
  }
  const { signal } = letter;
  if (run.inbox.add(signal) === 'added' && run.isAdopted) memory.receive(runId, signal);
}

const pauseMs = 1000;

/** Asks until the database answers, as DBOS does with everything of a workflow: without it, runs stand still. */
export async function patiently<T>(host: AgentHost, ask: () => Promise<T>): Promise<T> {
  // Ends when the database is back, or with the engine.
  while (!host.isClosed) {
    try {
      return await ask();
    } catch {
      // DBOS logs that its own connections broke; here only the wait matters.
      await wait(pauseMs, { clock: host.setup.clock });
    }
  }
  return standStill();
}
