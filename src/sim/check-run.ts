import type { RunOutcome } from '../agent/run-outcome.ts';
import { textOf } from '../model/message.ts';
import type { Message } from '../model/message.ts';
import type { RunRow, StoredEvent } from '../model/store/store.ts';
import type { Carried } from './carry-run.ts';
import { isSameOutcome } from './note-told.ts';
import { maxAttempts } from './plan.ts';
import { nodeAttempts } from './sim-members.ts';
import { identityOf } from './sim-store.ts';
import { startProcess } from './start-process.ts';
import { listen } from './take-up.ts';
import { report, tell } from './world.ts';
import type { World } from './world.ts';

/** Looks at a run that has ended: at what is on record of it, and at what a process without a past makes of that. */
export async function checkRun(world: World, carried: Carried): Promise<void> {
  const { store, plan } = world;
  const { outcome } = carried;
  world.isOver = true;
  tell(world, '-- the run has ended, and is looked at');
  const row = await store.runs.find(plan.runId);
  const rows = await rowsOf(world);
  for (const { runId } of rows) checkEvents(world, runId, await store.runs.events(runId));
  await checkMessages(world, outcome);
  checkLedger(world, outcome);
  await checkEnds(world, outcome, rows);
  if (outcome.type === 'completed' && plan.features.has('session')) await checkSession(world);
  await lookAgain(world, carried, row);
  if (world.faults === 0) checkUnchanged(world, rows, await rowsOf(world));
}

/** Everything that was acknowledged is there, in the order in which it was handed over. */
function checkEvents(world: World, runId: string, events: readonly StoredEvent[]): void {
  const promised = world.promised.events
    .filter((event) => event.runId === runId)
    .toSorted((one, other) => one.order - other.order);
  let at = 0;
  for (const { text } of promised) {
    const found = events.findIndex((event, index) => index >= at && identityOf(event) === text);
    if (found === -1) {
      report(world, 'acknowledged-lost', `"${text}" was acknowledged, and is not on record in its place`);
      return;
    }
    at = found + 1;
  }
}

async function checkMessages(world: World, outcome: RunOutcome): Promise<void> {
  const { promised, store, plan } = world;
  const said = outcome.messages.map(contentOf);
  const waiting = await store.runs.signals(plan.runId);
  for (const message of promised.messages) {
    const times = said.filter((text) => text === message).length;
    const left = waiting.filter(({ payload }) => JSON.stringify(payload).includes(message)).length;
    if (times + left !== 1)
      report(
        world,
        'acknowledged-lost',
        `The message "${message}" was acknowledged, and is there ${times + left} times`,
      );
  }
}

function contentOf({ content }: Message): string {
  return typeof content === 'string' ? content : textOf(content);
}

/** What the run says that it used up is what its record says, and no turn had more attempts than the policy allows. */
function checkLedger(world: World, { usage }: RunOutcome): void {
  const { model, plan, promised, crashes, faults } = world;
  const { cut } = model;
  const requests = [...model.turns.values()].reduce((sum, turn) => sum + turn.requests, 0);
  const missing = requests - cut - usage.requests;
  // Whoever dies while runs below are being cancelled has not told the run above what they used up: their own records say it.
  const isLeft = plan.top.type !== 'agent' && promised.wasCancelled && crashes + faults > 0;
  if (missing < 0 || (missing > 0 && !isLeft))
    report(
      world,
      'ledger-wrong',
      `The models were asked ${requests} times, of which ${cut} were cut off; the run counts ${usage.requests}`,
    );
  for (const [turn, record] of model.turns) {
    // Which turn a request that was cut off belonged to is not always known.
    const most = maxAttempts * plan.models * nodeAttempts * record.starts + cut;
    if (record.requests > most)
      report(
        world,
        'ledger-wrong',
        `In turn ${turn} the models were asked ${record.requests} times, at most ${most} are allowed`,
      );
  }
}

/** Whoever worked for a run that has ended has ended too. */
async function checkEnds(world: World, { type }: RunOutcome, rows: readonly RunRow[]): Promise<void> {
  // Where the disk fails it cannot be written down that they are cancelled: whoever looks at the run does it then.
  if (type !== 'completed' && world.faults > 0) return;
  const open = rows.filter(({ status }) => status === 'running' || status === 'suspended');
  for (const { runId, status } of open)
    if (!(await isToldToEnd(world, runId)))
      report(world, 'never-ends', `The run is ${type}, and "${runId}" is ${status}`);
}

/** A dead process may hold its lease for a moment longer than that of the run above: the wish to end lies there, for whoever is next. */
async function isToldToEnd(world: World, runId: string): Promise<boolean> {
  const signals = await world.store.runs.signals(runId);
  if (signals.some(({ name }) => name === 'cancel')) return true;
  const above = runId.slice(0, Math.max(0, runId.lastIndexOf('/')));
  return above !== '' && isToldToEnd(world, above);
}

async function rowsOf({ store }: World): Promise<readonly RunRow[]> {
  const { runs } = await store.runs.list();
  return runs;
}

async function checkSession(world: World): Promise<void> {
  const messages = await world.store.sessions.messages('talk');
  const asked = messages.filter(({ content }) => content === 'Do what is planned.').length;
  const { promised } = world;
  if (asked === 1 || promised.outcome?.unsaved !== undefined) return;
  report(world, 'acknowledged-lost', `The run has completed, and its session has it ${asked} times`);
}

/** Nor do the runs below change. */
function checkUnchanged(world: World, before: readonly RunRow[], after: readonly RunRow[]): void {
  const heads = new Map(before.map(({ runId, headSeq }) => [runId, headSeq]));
  for (const { runId, headSeq } of after)
    if (heads.get(runId) !== headSeq)
      report(world, 'end-changed', `The record of "${runId}" had ${heads.get(runId)} events, now ${headSeq}`);
}

/** A second look at an ended run, in a process of its own: it gives the same outcome and changes nothing. */
async function lookAgain(world: World, carried: Carried, row: RunRow | undefined): Promise<void> {
  const { outcome } = carried;
  const { plan, store } = world;
  const found = await findAgain(world, carried, row?.owner);
  const after = await store.runs.find(plan.runId);
  if (found.outcome === undefined)
    report(world, 'end-changed', `The outcome is not found again: ${String(found.error)}`);
  else if (!isSameOutcome(outcome, found.outcome))
    report(
      world,
      'end-changed',
      `The outcome was ${outcome.type}, and is another one now: ${found.outcome.type}`,
    );
  if (after?.headSeq !== row?.headSeq || after?.status !== row?.status)
    report(
      world,
      'end-changed',
      `The record had ${row?.headSeq} events (${row?.status}), now ${after?.headSeq} (${after?.status})`,
    );
}

interface FoundAgain {
  readonly outcome?: RunOutcome;
  readonly error?: unknown;
}

async function findAgain(world: World, carried: Carried, owner: RunRow['owner']): Promise<FoundAgain> {
  const { plan, clock } = world;
  const { outcome } = carried;
  // The last owner could not give it back where the disk had failed: his lease runs out.
  if (owner !== undefined) {
    clock.after(owner.untilMs - clock.wallMs(), () => undefined);
    await clock.runUntil(() => clock.wallMs() >= owner.untilMs, maxLookMs);
  }
  // Nothing of an ended run stays in the process that saw its end, so that it may look as well as any other.
  const { agent } = plan.seed % 4 === 0 || owner !== undefined ? startProcess(world) : carried.process;
  const isClosed = outcome.type === 'completed' || outcome.type === 'stopped';
  const looking = isClosed ? agent?.resume(plan.runId) : agent?.run('Again.', { runId: plan.runId });
  let found: FoundAgain | undefined;
  if (looking !== undefined)
    void listen(looking, (heard) => {
      found = heard.type === 'outcome' ? { outcome: heard.outcome } : { error: heard.error };
    });
  const why = await clock.runUntil(() => found !== undefined, maxLookMs);
  return found ?? { error: why };
}

const maxLookMs = 60_000;
