import { printable } from '../../base/printable.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { approvalLines } from '../approval-lines.ts';
import type { Given } from '../command-spec.ts';
import type { CliIo } from '../io.ts';
import { createScreen } from '../layout.ts';
import { openExisting } from '../open-store.ts';
import { usageError } from '../usage-error.ts';
import type { AgentSeam } from './agent-seam.ts';
import { misplaced } from './check-place.ts';
import { finishedRun, runInUse } from './find-run.ts';
import { goOn } from './go-on.ts';
import { callText, hasAnswer, isElsewhere, openQuestion } from './next-steps.ts';
import { findOptionsOf } from './open-run-store.ts';
import { previewCall } from './preview-call.ts';
import { topRunId } from './read-nodes.ts';
import { momentText, shellWord } from './run-words.ts';
import { takeRun } from './take-run.ts';
import type { TakenRun } from './take-run.ts';

export interface Answering {
  readonly seam: AgentSeam;
  readonly io: CliIo;
  readonly verdict: 'yes' | 'no';
}

type Approval = Extract<PersonRequest, { readonly type: 'approval' }>;

/** Shows the exact call that a run asks about, answers it by its id, and goes on with the run or only writes the answer down. */
export async function answerCall(answering: Answering, given: Given): Promise<number> {
  const { seam, io, verdict } = answering;
  const taken = await takeRun(seam, given, io);
  const { reading, settings, storeFlag } = taken;
  const request = readRequest(taken, answering, given.flags);
  const onlyRecord = given.flags['resume'] === false || given.flags['noResume'] === true;
  // An answer that is only written down is good for whoever goes on, wherever that is.
  const verb = verdict === 'yes' ? 'approve' : 'reject';
  const wrong = onlyRecord ? undefined : await misplaced(seam, taken, { verb, flags: given.flags, io });
  if (wrong !== undefined) throw wrong;
  const facts = await previewCall(answering, settings, request);
  const lines = approvalLines(request, createScreen(io), facts);
  // What is shown is for the person; with --json the answer of the program is on stdout.
  const isJson = given.flags['json'] === true;
  (isJson ? io.stderr : io.stdout).write(lines.map((line) => `${line}\n`).join(''));
  const value = answerTo(request, verdict, given.flags['reason']);
  if (onlyRecord) return record(taken, { value, verdict }, io);
  return goOn({
    seam,
    io,
    settings,
    storeFlag,
    row: reading.row,
    answer: { request, value, shownFile: facts.shownFile },
    isJson,
  });
}

function readRequest(
  { reading, storeFlag }: TakenRun,
  { io, verdict }: Answering,
  flags: Given['flags'],
): Approval {
  const { row } = reading;
  const { runId } = row;
  if (row.owner !== undefined) throw runInUse(row, findOptionsOf(io, flags));
  const top = topRunId(row);
  if (top !== runId)
    throw usageError({
      message: `The run "${runId}" stands below "${top}", which asks for it and goes on with it`,
      hint: `Type: ${io.command} ${verdict === 'yes' ? 'approve' : 'reject'} ${shellWord(top)}${storeFlag}`,
    });
  const request = openQuestion(reading);
  if (request === undefined || request.type === 'mend') {
    const isOver = row.status === 'completed' || row.status === 'stopped';
    if (isOver) throw finishedRun(row, findOptionsOf(io, flags));
    throw usageError({
      message: `The run "${runId}" asks for no yes or no`,
      hint: `See what it does: ${io.command} why ${runId}${storeFlag}`,
    });
  }
  if (hasAnswer(reading))
    throw refuse(
      runId,
      'it was answered already, and the first answer counts',
      `Go on with it: ${io.command} resume ${runId}${storeFlag}`,
    );
  if (request.type === 'question')
    throw usageError({
      message: `The run "${runId}" asks for words, not for a yes or no: ${printable(request.question)}`,
      hint: `Answer it: ${io.command} resume ${runId} --answer "…"${storeFlag}`,
    });
  if (request.type === 'in-doubt')
    throw usageError({
      message: `The run "${runId}" asks whether a call of "${request.tool}" happened, not whether it may`,
      hint: `Look outside, then type: ${io.command} resume ${runId} --answer happened${storeFlag} (or did-not-happen)`,
    });
  if (verdict === 'yes' && io.now() > request.expiresAt)
    throw refuse(
      runId,
      `its question stood until ${momentText(request.expiresAt)}, and a yes after that is a no`,
      `Go on without the call: ${io.command} reject ${runId}${storeFlag}`,
    );
  return request;
}

function refuse(runId: string, why: string, hint: string): RerailError {
  const message = `The run "${runId}" cannot be answered: ${why}`;
  return RerailError.from(
    createFailure('INVALID_STATE', { origin: 'agent', message, hint, context: { runId } }),
  );
}

/** Bound to this very call: whatever else is asked meanwhile, this is no answer to it. */
function answerTo({ id, hash }: Approval, verdict: Answering['verdict'], reason: unknown): Json {
  const answer = { approved: verdict === 'yes', id, hash };
  return typeof reason === 'string' && reason.trim() !== '' ? { ...answer, reason } : answer;
}

/** As a worker expects it: see `ResumePayload`. */
async function record(
  { reading, settings, storeFlag }: TakenRun,
  { value, verdict }: { readonly value: Json; readonly verdict: Answering['verdict'] },
  io: CliIo,
): Promise<number> {
  const { row } = reading;
  const { runId } = row;
  if (row.status !== 'suspended')
    throw usageError({
      message: `The run "${runId}" was asking when its process vanished, so an answer can only be given by going on`,
      hint: 'Leave --no-resume out',
    });
  const store = openExisting(settings.storeFile);
  try {
    const payload = { answer: { given: true, value }, wallMs: io.now() };
    const kept = await store.runs.signal(runId, { id: `resume:${row.headSeq}`, name: 'resume', payload });
    if (kept === 'duplicate')
      throw refuse(
        runId,
        'somebody was quicker, and the first answer counts',
        `Go on with it: ${io.command} resume ${runId}${storeFlag}`,
      );
    if (kept !== 'added')
      throw refuse(
        runId,
        kept === 'full' ? 'too many answers wait that nobody has taken' : 'it is no longer there',
        `Type: ${io.command} runs`,
      );
  } finally {
    await store.close();
  }
  const next = isElsewhere(reading)
    ? `A worker of its program goes on by it, or that program does: ${callText(row)}`
    : `A worker goes on by it, or you do: ${io.command} resume ${runId}${storeFlag}`;
  io.stdout.write(`Written down: ${verdict}. ${next}\n`);
  return 0;
}
