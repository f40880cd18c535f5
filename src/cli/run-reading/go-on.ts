import { readAnswer, readVerification } from '../../agent/approval/approval.ts';
import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import { isRecord } from '../../base/json.ts';
import { exitCodes } from '../../errors/codes.ts';
import type { RunRow, Store } from '../../model/store/store.ts';
import { resolveRetryPolicy } from '../../resilience/retry-policy.ts';
import type { Settings } from '../config/settings.ts';
import { exitCodeOf } from '../commands/exit-code-of.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import { eventLine } from '../commands/run-output.ts';
import { interruptedExitCode, listenForInterrupts } from '../start/two-interrupts.ts';
import type { Interrupts } from '../start/two-interrupts.ts';
import { rememberSeen } from '../../tools/workspace/memory.ts';
import type { ShownFile } from '../view/request-facts.ts';
import type { RunView } from '../view/run-view.ts';
import type { AgentSeam, OpenedAgent } from './agent-seam.ts';
import { nextSteps } from './next-steps.ts';
import { readRun } from './read-run.ts';
import { stepLines } from './timeline.ts';

/** A run that is to be resumed, and the answer to it. */
export interface GoingOn {
  readonly seam: AgentSeam;
  readonly io: CliIo;
  readonly settings: Settings;
  readonly storeFlag: string;
  readonly row: RunRow;
  readonly answer?: GivenWord | undefined;
  /** A question that the person at the terminal is asked before anything continues: no answer would deny it. */
  readonly askFirst?: PersonRequest | undefined;
  /** Print events as lines of JSON and nothing else. */
  readonly isJson: boolean;
}

/** What is answered, and to which question. */
export interface GivenWord {
  readonly request: PersonRequest;
  readonly value: RunAnswer;
  /** What the person has seen of the file that the call would change. */
  readonly shownFile?: ShownFile | undefined;
}

/** Resumes a run in this process and shows it. Returns the exit code of its outcome. */
export async function goOn(going: GoingOn): Promise<number> {
  const { seam, settings, row } = going;
  const place = await seam.runBelongsHere(row, settings);
  if (place.type === 'elsewhere') throw place.error;
  const late: Late = {};
  const interrupts = listenForInterrupts({
    onLast: () => late.view?.close(),
    onHangUp: async () => late.opened?.agent.release(row.runId),
  });
  const view = going.isJson ? jsonView(going.io) : await openView(going, interrupts, late);
  late.view = view;
  try {
    const opened = await seam.openAgent(settings);
    late.opened = opened;
    try {
      const { exitCode, isOpen } = await carryOn(going, opened, { view, signal: interrupts.signal, late });
      return (isOpen ? interruptedExitCode(interrupts) : undefined) ?? exitCode;
    } finally {
      await opened.close();
    }
  } finally {
    view.close();
    interrupts.stop();
  }
}

/** What is made after something that needs it. */
interface Late {
  view?: RunView;
  opened?: OpenedAgent;
  /** Of the question that was asked last. */
  shownFile?: ShownFile | undefined;
}

function openView(
  { seam, io, storeFlag, settings }: GoingOn,
  { interrupt }: Interrupts,
  late: Late,
): Promise<RunView> {
  return seam.createRunView(io, {
    resumeCommand: (runId) => `${io.command} resume ${runId}${storeFlag}`,
    // The question stays open, and is asked again by the next resume.
    onInterrupt: () => {
      interrupt();
      return 'no-answer';
    },
    maxAttempts: resolveRetryPolicy(settings.retry).maxAttempts,
    preview: async (request, signal) => {
      const facts = await seam.requestFacts(settings, request, { signal, command: io.command });
      late.shownFile = facts.shownFile;
      return facts;
    },
  });
}

function jsonView(io: CliIo): RunView {
  return {
    hear: (event) => void io.stdout.write(eventLine(event)),
    ask: () => Promise.resolve(undefined),
    close: () => undefined,
  };
}

interface Carrying {
  readonly view: RunView;
  readonly signal: AbortSignal;
  readonly late: Late;
}

/** More questions than anybody answers in one sitting. */
const maxQuestions = 1000;

interface CarriedOn {
  readonly exitCode: number;
  /** It can still be resumed: where a signal ended this, the signal's exit code says so. */
  readonly isOpen: boolean;
}

/**
 * Resumes the run, and where it asks a question that a person here can answer, again with the answer. The agent itself asks no person: each
 * answer is on record, bound to its question, before anybody acts on it.
 */
async function carryOn(going: GoingOn, opened: OpenedAgent, carrying: Carrying): Promise<CarriedOn> {
  const { row, answer, askFirst, io, isJson } = going;
  const { view, signal } = carrying;
  const asks = io.terminal !== undefined && !isJson;
  let isTakenUp = isJson;
  const hear = (event: RunEvent): void => {
    if (event.type === 'run-resumed') isTakenUp = true;
    const isTold = isTakenUp || !formerEvents.has(event.type);
    const isAnswered = asks || (!isJson && answer !== undefined && isSame(answer.request, requestOf(event)));
    if (isTold && !(isAnswered && isPause(event))) view.hear(event);
  };
  const canHear = row.status === 'suspended' || row.status === 'parked';
  let word = canHear ? (answer ?? (await askNow(askFirst, carrying))) : undefined;
  if (word === undefined && askFirst !== undefined) {
    view.close();
    await sayWhatNext(going, opened.store);
    return { exitCode: signal.aborted ? exitCodes.cancelled : exitCodes.waiting, isOpen: true };
  }
  for (let questions = 0; ; questions += 1) {
    rememberShown(opened, word);
    const options = { onEvent: hear, signal, ...(word === undefined ? {} : { answer: bound(word) }) };
    const outcome = await opened.agent.resume(row.runId, options);
    const request = outcome.type === 'suspended' ? outcome.request : undefined;
    const isAnswered = answer !== undefined && request !== undefined && isSame(request, answer.request);
    const isNew = word === undefined || request === undefined || !isSame(request, word.request);
    if (isAnswered && isNew) word = answer;
    else word = asks && isNew ? await askNow(request, carrying) : undefined;
    if (word !== undefined && questions < maxQuestions) continue;
    view.close();
    if (outcome.type === 'suspended') await sayWhatNext(going, opened.store);
    return {
      exitCode: exitCodeOf(outcome),
      isOpen: outcome.type === 'cancelled' || outcome.type === 'suspended',
    };
  }
}

/** Decisions from before the interruption come first. A resume shows only what happens now; `show` has the rest. */
const formerEvents: ReadonlySet<RunEvent['type']> = new Set([
  'failure',
  'recovery',
  'approval-answered',
  'tool-finished',
]);

/** It waits for a person who is here and is asked at once: no notice is needed. */
function isPause(event: RunEvent): boolean {
  return isAnswerable(requestOf(event));
}

/** What a run that waits asks. */
function requestOf(event: RunEvent): PersonRequest | undefined {
  if (event.type === 'run-suspended') return event.request;
  if (event.type !== 'run-finished' || event.outcome.type !== 'suspended') return undefined;
  return event.outcome.request;
}

function isAnswerable(request: PersonRequest | undefined): boolean {
  return request !== undefined && request.type !== 'mend';
}

/**
 * The person who approves a change has seen what it changes: the file may be written over as it was then. What the model has read of it was in
 * another process, whose memory is gone.
 */
function rememberShown({ workspace }: OpenedAgent, word: GivenWord | undefined): void {
  if (workspace === undefined || word?.shownFile === undefined) return;
  const { value, shownFile } = word;
  if (isRecord(value) && Reflect.get(value, 'approved') === true)
    rememberSeen(workspace.memory, shownFile.path, shownFile.contentHash);
}

/** The answer with the name of its question, so that it is never taken for the answer to another one. */
function bound({ request, value }: GivenWord): RunAnswer {
  if (request.type === 'mend' || request.type === 'question') return value;
  const { id, hash, tool, input } = request;
  const about = { id, hash, tool, input };
  // An input of its own is what the call is to run with.
  if (isRecord(value)) return { input, ...value, id, hash, tool } as RunAnswer; // Checked where it is taken.
  if (typeof value === 'boolean') return { approved: value, ...about };
  const said = request.type === 'in-doubt' ? readVerification(value).type : readAnswer(value);
  if (typeof said === 'string') return { type: said, ...about };
  // A word that a person types counts where it is plain; what else they type is refused.
  const isPlain = said.verdict === 'yes' || said.kind === 'said-no';
  return isPlain ? { approved: said.verdict === 'yes', ...about } : value;
}

async function askNow(
  request: PersonRequest | undefined,
  { view, signal, late }: Carrying,
): Promise<GivenWord | undefined> {
  if (request === undefined || !isAnswerable(request)) return undefined;
  const value = await view.ask(request, signal);
  return value === undefined ? undefined : { request, value, shownFile: late.shownFile };
}

/** It waits: for whom, and what to type. */
async function sayWhatNext({ io, row, storeFlag, isJson }: GoingOn, store: Store): Promise<void> {
  if (isJson) return;
  const typing = { command: io.command, storeFlag, nowMs: io.now() };
  const lines = stepLines(nextSteps(await readRun(store, row.runId), typing), createScreen(io));
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

/** The very same call, and no other that happens to be asked about. */
function isSame(one: PersonRequest, other: PersonRequest | undefined): boolean {
  if (one.id !== other?.id) return false;
  return 'hash' in one && 'hash' in other ? one.hash === other.hash : one.type === other.type;
}
