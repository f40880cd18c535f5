import { wait } from '../../base/abort.ts';
import type { Json } from '../../base/json.ts';
import type { Engine, RunStatus, Started, StartOptions } from '../../runtime/record/durable.ts';
import { engineError } from '../../runtime/record/durable-errors.ts';
import { maxSignals, outside } from './carried-run.ts';
import type { AgentHost, CarriedRun } from './carried-run.ts';
import { collect, collectSoon } from './collect-letters.ts';
import { bounded, checkSize } from './failures.ts';
import { findHead, isLive, statusOf } from './head.ts';
import type { Head } from './head.ts';
import { topics } from './mail.ts';
import { asPlain } from './order.ts';
import type { Letter } from './order.ts';
import { readJournal } from './read-journal.ts';
import { startGeneration } from './record-run.ts';

/** The verbs of the process that hosts the runs of an agent. */
export function createHostVerbs(host: AgentHost, close: () => Promise<void>): Engine {
  const { watch, maxValueBytes } = host;
  return {
    start: async (input, wanted) => {
      const words = `start run "${wanted.runId}"`;
      checkOpen(host, words);
      checkVersion(host, wanted);
      const copied = asPlain(input);
      checkSize(`The input of run "${wanted.runId}"`, copied, maxValueBytes);
      return bounded(watch, { words }, () => inTurn(host, wanted.runId, () => start(host, copied, wanted)));
    },
    signal: async (runId, name, message) => {
      const words = `give run "${runId}" the signal "${name}"`;
      checkOpen(host, words);
      const { id, payload } = asPlain(message);
      checkSize(`The signal "${id}"`, payload, maxValueBytes);
      const letter: SignalLetter = { type: 'signal', signal: { id, payload, name } };
      await bounded(watch, { words, lateCode: 'SIGNAL_TIMEOUT' }, () => signal(host, runId, letter));
    },
    cancel: async (runId, reason) => {
      checkOpen(host, `cancel run "${runId}"`);
      await cancel(host, runId, reason);
    },
    status: async (runId) => {
      const words = `ask for run "${runId}"`;
      checkOpen(host, words);
      return bounded(watch, { words }, () => status(host, runId));
    },
    journal: async (runId) => {
      const words = `read what is on record of run "${runId}"`;
      checkOpen(host, words);
      return bounded(watch, { words }, () => readJournal(host, runId));
    },
    close,
  };
}

function checkOpen({ isClosed }: AgentHost, words: string): void {
  if (isClosed) throw engineError(`Cannot ${words}: the engine is closed`, { retryable: false });
}

function checkVersion({ setup }: AgentHost, { runId, version }: StartOptions): void {
  if (version === setup.version) return;
  const sides = `version "${setup.version}", not "${version}"`;
  throw engineError(`Cannot start run "${runId}": this engine runs ${sides}`, { retryable: false });
}

async function inTurn({ starts }: AgentHost, runId: string, work: () => Promise<Started>): Promise<Started> {
  const next = (starts.get(runId) ?? Promise.resolve()).then(work);
  // Reported to the caller; the next one looks again.
  const turn = next.then(
    () => undefined,
    () => undefined,
  );
  starts.set(runId, turn);
  try {
    return await next;
  } finally {
    if (starts.get(runId) === turn) starts.delete(runId);
  }
}

async function start(host: AgentHost, input: Json, wanted: StartOptions): Promise<Started> {
  const { runId, version, after = 0 } = wanted;
  const head = await findHead(host, runId);
  if (head !== undefined && (isLive(head) || head.generation > after)) return 'known';
  const left = head?.returned?.type === 'over' ? head.returned : { signals: [], signalIds: [] };
  const { signals, signalIds } = left;
  // By its number: where another process was quicker, DBOS knows the workflow and begins none.
  await startGeneration(host, { runId, version, generation: after + 1, input, signals, signalIds });
  return 'begun';
}

type SignalLetter = Extract<Letter, { type: 'signal' }>;

async function signal(host: AgentHost, runId: string, letter: SignalLetter): Promise<void> {
  const { id, name } = letter.signal;
  await post(host, runId, {
    letter,
    key: `signal:${id}`,
    deed: `take the signal "${name}"`,
    goesTo: () => true,
  });
  const run = host.runs.get(runId);
  if (run !== undefined) collectSoon(host, run);
}

async function cancel(host: AgentHost, runId: string, reason: string): Promise<void> {
  const letter: Letter = { type: 'cancel', reason };
  const posting = { letter, key: 'cancel', deed: 'be cancelled', goesTo: isLive };
  try {
    await bounded(host.watch, { words: `cancel run "${runId}"` }, async () => {
      await post(host, runId, posting);
      const run = host.runs.get(runId);
      if (run !== undefined) await collect(host, run);
    });
  } catch (error) {
    // Where the cancel request cannot be written down, it is obeyed here all the same.
    if (host.runs.get(runId)?.isAdopted === true) await host.memory.cancel(runId, reason);
    throw error;
  }
}

interface Posting {
  readonly letter: Letter;
  /** Of which the same mailbox takes one. */
  readonly key: string;
  readonly deed: string;
  /** Whether it makes sense to send it there. */
  readonly goesTo: (head: Head) => boolean;
}

/** Far more generations than can begin while a letter is sent. */
const maxPosts = 20;

/**
 * Sends a letter to the run, and looks whether it was still there afterwards. A generation reads the mailbox of the one before
 * once it exists itself; so a letter that came too late for that finds, after it was sent, that there is a next one.
 */
async function post(host: AgentHost, runId: string, posting: Posting): Promise<void> {
  for (let posts = 0; posts < maxPosts; posts += 1) {
    const local = host.runs.get(runId);
    const isHere = local !== undefined && !local.isLeaving;
    const target = isHere ? local.workflowId : await addressOf(host, runId, posting);
    if (target === undefined) return;
    await checkRoom(host, runId, { target, ...posting });
    await send(host, target, posting);
    if (isHere && !local.isLeaving) return;
    const after = await findHead(host, runId);
    if (after === undefined || after.row.workflowID === target) return;
  }
  throw engineError(`Run "${runId}" cannot ${posting.deed}: it restarts too fast`, { retryable: true });
}

async function addressOf(
  host: AgentHost,
  runId: string,
  { deed, goesTo }: Posting,
): Promise<string | undefined> {
  const head = await findHead(host, runId);
  if (head === undefined)
    throw engineError(`Run "${runId}" cannot ${deed}: there is no such run`, { retryable: false });
  return goesTo(head) ? head.row.workflowID : undefined;
}

async function checkRoom(
  { mail }: AgentHost,
  runId: string,
  { letter, target, deed }: Posting & { readonly target: string },
): Promise<void> {
  if (letter.type === 'cancel') return;
  const waiting = (await mail.count([target])).get(target)?.signals ?? 0;
  if (waiting < maxSignals) return;
  const message = `Run "${runId}" cannot ${deed}: ${waiting} are waiting already`;
  throw engineError(message, { retryable: true });
}

/** DBOS orders messages by the millisecond; the code that sends the next one after this one has it behind it. */
const apartMs = 2;

async function send({ dbos, setup }: AgentHost, target: string, { letter, key }: Posting): Promise<void> {
  const text = JSON.stringify(letter);
  await outside(() => dbos.send(target, text, topics[letter.type], key, { serializationType: 'portable' }));
  await wait(apartMs, { clock: setup.clock });
}

async function status(host: AgentHost, runId: string): Promise<RunStatus> {
  const run = host.runs.get(runId);
  if (run?.isAdopted === true && !run.isLeaving) {
    const here = await host.memory.status(runId);
    if (here.type === 'running' || here.type === 'waiting') return withAnnounced(here, run);
  }
  return statusOf(host, await findHead(host, runId));
}

type LiveStatus = Extract<RunStatus, { type: 'running' | 'waiting' }>;

/** What is not recorded yet is not reported: an answer may reach another process, which would not know the question. */
function withAnnounced({ announced: _said, ...here }: LiveStatus, { told }: CarriedRun): RunStatus {
  return told.announced === undefined ? here : { ...here, announced: told.announced };
}
