import { printable } from '../../base/printable.ts';
import { changedField } from '../../agent/approval/run-answer.ts';
import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import type { CallRequest } from '../../agent/run-outcome.ts';
import { defined } from '../../base/defined.ts';
import type { Json } from '../../base/json.ts';
import { exitCodes } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { questionOf } from '../../runtime/run/question-of.ts';
import { approvalLines } from '../text/approval-lines.ts';
import { canConfirm, confirm } from '../start/confirm.ts';
import type { Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import { openExisting } from '../start/open-store.ts';
import { usageError } from '../text/usage-error.ts';
import type { AgentSeam } from './agent-seam.ts';
import { askedLines, changedRequest, readChangedInput } from './changed-input.ts';
import { misplaced, missingModel } from './check-place.ts';
import { finishedRun, runInUse } from './find-run.ts';
import { flagText } from './given-text.ts';
import { goOn } from './go-on.ts';
import { callFlag, checkCall } from './named-call.ts';
import { callText, hasAnswer, isElsewhere, openQuestion } from './next-steps.ts';
import { findOptionsOf } from './open-run-store.ts';
import { previewCall } from './preview-call.ts';
import { topRunId } from './read-nodes.ts';
import { momentText, shellWord } from './run-words.ts';
import { takeRun } from './take-run.ts';
import type { TakenRun } from './take-run.ts';

/** What a person says about a call: whether it may run, or whether it happened. */
export type CallVerdict = 'yes' | 'no' | 'happened' | 'did-not-happen' | 'unknown';

export interface Answering {
  readonly seam: AgentSeam;
  readonly io: CliIo;
  readonly verdict: CallVerdict;
}

const verbs = {
  yes: 'approve',
  no: 'reject',
  happened: 'settle',
  'did-not-happen': 'settle',
  unknown: 'settle',
} as const satisfies Record<CallVerdict, string>;

/**
 * Shows the exact call that a run asks about, and answers it by its hash: the one that was typed, or the one that a person at the terminal
 * has agreed to. Then resumes the run, or only writes the answer down.
 */
export async function answerCall(answering: Answering, given: Given): Promise<number> {
  const { seam, io, verdict } = answering;
  const taken = await takeRun(seam, given, io);
  const { reading, settings, storeFlag } = taken;
  const request = readRequest(taken, answering, given.flags);
  const isWritten = given.flags['resume'] === false || given.flags['noResume'] === true;
  const place = { verb: verbs[verdict], flags: given.flags, io };
  const wrong = isWritten ? undefined : ((await misplaced(seam, taken, place)) ?? missingModel(taken, place));
  // The program of another agent takes the answer when it resumes the run; a run of another folder is answered there.
  if (wrong !== undefined && wrong.failure.code !== 'NOT_REGISTERED') throw wrong;
  const changed = verdict === 'yes' ? await readChangedInput(given.flags, request, io) : undefined;
  const shown = changed === undefined ? request : changedRequest(request, changed);
  const facts = await previewCall(answering, settings, shown);
  const isJson = given.flags['json'] === true;
  if (given.flags['call'] !== undefined) checkCall(reading.row.runId, request, given.flags['call']);
  const screen = createScreen(io);
  const before = changed === undefined ? [] : askedLines(request, screen);
  const lines = [...approvalLines(shown, screen, facts), ...before];
  // What is shown is for the person; with --json the answer of the program is on stdout.
  (isJson ? io.stderr : io.stdout).write(lines.map((line) => `${line}\n`).join(''));
  if (given.flags['call'] === undefined && !(await isMeant(taken, { answering, request, given })))
    return exitCodes.waiting;
  const value = answerTo(request, verdict, given.flags);
  if (isWritten || wrong !== undefined) {
    const whole = changed === undefined ? value : { ...value, [changedField]: changed };
    return record(taken, { value: whole, verdict, isJson }, io);
  }
  return goOn({
    seam,
    io,
    settings,
    storeFlag,
    row: reading.row,
    answer: { request, value: wordOf(value, changed), shownFile: facts.shownFile },
    isJson,
  });
}

interface Unnamed {
  readonly answering: Answering;
  readonly request: CallRequest;
  readonly given: Given;
}

/** Whether a person who has seen the call means it. Where no person can be asked, it prints what to type, and does nothing. */
async function isMeant(
  { reading, storeFlag }: TakenRun,
  { answering: { io, verdict }, request, given: { flags } }: Unnamed,
): Promise<boolean> {
  if (canConfirm(io) && flags['json'] !== true) return confirm(io, questions[verdict]);
  const flag = verbs[verdict] === 'settle' ? ` --${verdict}` : '';
  const rest = ['input', 'reason', 'result'].flatMap((name) => {
    const text = flagText(flags, name);
    return text === undefined ? [] : [` --${name} ${shellWord(text)}`];
  });
  const written = flags['resume'] === false || flags['noResume'] === true ? ' --no-resume' : '';
  const typed = `${io.command} ${verbs[verdict]} ${shellWord(reading.row.runId)}${callFlag(request)}${flag}${rest.join('')}${written}${storeFlag}`;
  io.stderr.write(`Nothing was answered: say which call you mean. Type: ${typed}\n`);
  return false;
}

const questions = {
  yes: 'Run exactly this, once?',
  no: 'Deny exactly this?',
  happened: 'Did exactly this happen?',
  'did-not-happen': 'Did exactly this not happen? It is made now.',
  unknown: 'Continue without knowing whether it happened?',
} as const satisfies Record<CallVerdict, string>;

function readRequest(
  { reading, storeFlag }: TakenRun,
  { io, verdict }: Answering,
  flags: Given['flags'],
): CallRequest {
  const { row } = reading;
  const { runId } = row;
  if (row.owner !== undefined) throw runInUse(row, findOptionsOf(io, flags));
  const top = topRunId(row);
  if (top !== runId)
    throw usageError({
      message: `The run "${runId}" is a child of "${top}", which asks for it and resumes it`,
      hint: `Type: ${io.command} ${verbs[verdict]} ${shellWord(top)}${storeFlag}`,
    });
  const request = openQuestion(reading);
  if (request === undefined || request.type === 'mend') throw nothingAsked({ reading, storeFlag }, io, flags);
  if (hasAnswer(reading))
    throw refuse(
      runId,
      'it was answered already, and the first answer counts',
      `Resume it: ${io.command} resume ${runId}${storeFlag}`,
    );
  if (request.type === 'question')
    throw usageError({
      message: `The run "${runId}" asks for an answer in words, not for approval: ${printable(request.question)}`,
      hint: `Answer it: ${io.command} resume ${runId} --answer "…"${storeFlag}`,
    });
  checkKind(request, {
    verdict,
    runId,
    typed: (verb, flag) => `${io.command} ${verb} ${runId}${callFlag(request)}${flag}${storeFlag}`,
  });
  if (request.type === 'approval' && verdict === 'yes' && io.now() > request.expiresAt)
    throw refuse(
      runId,
      `its question expired at ${momentText(request.expiresAt)}, and a later approval is denied`,
      `Resume without the call: ${io.command} reject ${runId}${callFlag(request)}${storeFlag}`,
    );
  return request;
}

/** Why no approval is needed, and what to do instead. */
function nothingAsked(
  { reading, storeFlag }: Pick<TakenRun, 'reading' | 'storeFlag'>,
  io: CliIo,
  flags: Given['flags'],
): Error {
  const { row } = reading;
  const { runId, status } = row;
  if (status === 'completed' || status === 'stopped') return finishedRun(row, findOptionsOf(io, flags));
  if (status !== 'running')
    return usageError({
      message: `The run "${runId}" asks for no approval`,
      hint: `See what it does: ${io.command} why ${runId}${storeFlag}`,
    });
  const typed = isElsewhere(reading) ? callText(row) : `${io.command} resume ${shellWord(runId)}${storeFlag}`;
  return usageError({
    message: `The run "${runId}" was interrupted, and has asked nothing since`,
    hint: `Resume it first, and it asks about a call whose end was not seen: ${typed}`,
  });
}

interface Kind {
  readonly verdict: CallVerdict;
  readonly runId: string;
  readonly typed: (verb: string, flag: string) => string;
}

/** Whether it may run and whether it happened are two questions. */
function checkKind(request: CallRequest, { verdict, runId, typed }: Kind): void {
  const isAboutPast = verbs[verdict] === 'settle';
  if (request.type === 'in-doubt' && !isAboutPast)
    throw usageError({
      message: `The run "${runId}" asks whether a call of "${request.tool}" happened, not whether it may`,
      hint: `Look outside, then type: ${typed('settle', ' --happened')} (or --did-not-happen)`,
    });
  if (request.type === 'approval' && isAboutPast)
    throw usageError({
      message: `The run "${runId}" asks whether a call of "${request.tool}" may run, not whether it happened`,
      hint: `Type: ${typed('approve', '')} (or reject)`,
    });
}

function refuse(runId: string, why: string, hint: string): RerailError {
  const message = `The run "${runId}" cannot be answered: ${why}`;
  return RerailError.from(
    createFailure('INVALID_STATE', { origin: 'agent', message, hint, context: { runId } }),
  );
}

/** With the arguments that it is to run with, where those were changed. It is checked where it is taken. */
function wordOf(value: Readonly<Record<string, Json>>, changed: Json | undefined): RunAnswer {
  return (changed === undefined ? value : { ...value, input: changed }) as RunAnswer;
}

/** Bound to this very call as it was shown: whatever else is asked meanwhile, this is no answer to it. */
function answerTo(
  { id, hash, tool, input }: CallRequest,
  verdict: CallVerdict,
  flags: Given['flags'],
): Readonly<Record<string, Json>> {
  const bound = { id, hash, tool, input };
  if (verbs[verdict] === 'settle') {
    const result = flagText(flags, 'result');
    return { ...bound, type: verdict, ...(result === undefined ? {} : { result: jsonOrText(result) }) };
  }
  const answer = { ...bound, approved: verdict === 'yes' };
  const reason = flagText(flags, 'reason');
  return reason === undefined || reason.trim() === '' ? answer : { ...answer, reason };
}

function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json; // What JSON.parse gives is JSON.
  } catch {
    return text; // A word, as many results are.
  }
}

/** As a worker expects it: see `ResumePayload`. */
async function record(
  { reading, settings, storeFlag }: TakenRun,
  {
    value,
    verdict,
    isJson,
  }: { readonly value: Json; readonly verdict: CallVerdict; readonly isJson: boolean },
  io: CliIo,
): Promise<number> {
  const { row } = reading;
  const { runId } = row;
  if (row.status !== 'suspended')
    throw usageError({
      message: `The run "${runId}" was asking when its process vanished, so it can only be answered by resuming it`,
      hint: isElsewhere(reading)
        ? `Its program asks again when it resumes: ${callText(row)}`
        : 'Leave --no-resume out',
    });
  const store = openExisting(settings.storeFile);
  try {
    const { about, provenance } = await questionOf(store, row);
    const bound = defined({ about, provenance });
    const payload = { answer: { given: true, value }, wallMs: io.now(), ...bound } as unknown as Json; // Plain data.
    const kept = await store.runs.signal(runId, { id: `resume:${row.headSeq}`, name: 'resume', payload });
    if (kept === 'duplicate')
      throw refuse(
        runId,
        'another answer came first, and the first answer counts',
        `Resume it: ${io.command} resume ${runId}${storeFlag}`,
      );
    if (kept !== 'added')
      throw refuse(
        runId,
        kept === 'full' ? 'too many answers wait unread' : 'it is no longer there',
        `Type: ${io.command} runs`,
      );
  } finally {
    await store.close();
  }
  const next = isElsewhere(reading)
    ? `A worker of its program resumes it with this answer, or that program does: ${callText(row)}`
    : `A worker resumes it with this answer, or you do: ${io.command} resume ${runId}${storeFlag}`;
  if (isJson) io.stdout.write(`${JSON.stringify({ type: 'answer-recorded', runId, verdict })}\n`);
  (isJson ? io.stderr : io.stdout).write(`Recorded: ${verdict}. ${next}\n`);
  return 0;
}
