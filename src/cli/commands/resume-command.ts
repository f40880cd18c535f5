import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import { suspensionOf } from '../../agent/approval/person.ts';
import type { PersonRequest, RunOutcome } from '../../agent/run-outcome.ts';
import { approvalLines } from '../text/approval-lines.ts';
import { exitCodes } from '../../errors/codes.ts';
import type { CommandRun, Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import { systemSeam } from '../run-reading/agent-seam.ts';
import type { AgentSeam } from '../run-reading/agent-seam.ts';
import { misplaced, missingModel } from '../run-reading/check-place.ts';
import { checkCall } from '../run-reading/named-call.ts';
import { finishedRun, runInUse } from '../run-reading/find-run.ts';
import { flagText } from '../run-reading/given-text.ts';
import { goOn } from '../run-reading/go-on.ts';
import { hasAnswer, nextSteps, openQuestion } from '../run-reading/next-steps.ts';
import { findOptionsOf } from '../run-reading/open-run-store.ts';
import { previewCall } from '../run-reading/preview-call.ts';
import type { RunReading } from '../run-reading/run-reading.ts';
import { takeRun } from '../run-reading/take-run.ts';
import type { TakenRun } from '../run-reading/take-run.ts';
import { stepLines } from '../run-reading/timeline.ts';
import { eventLine } from './run-output.ts';
import { usageError } from '../text/usage-error.ts';

/** Resumes a run. */
export const runResume: CommandRun = (given, io) => resumeWith(systemSeam, given, io);

/** The same, with an agent that is handed in. */
export async function resumeWith(seam: AgentSeam, given: Given, io: CliIo): Promise<number> {
  const taken = await takeRun(seam, given, io);
  const { reading, settings, storeFlag } = taken;
  const { row } = reading;
  if (row.status === 'completed' || row.status === 'stopped')
    throw finishedRun(row, findOptionsOf(io, given.flags));
  if (row.owner !== undefined) throw runInUse(row, findOptionsOf(io, given.flags));
  const place = { verb: 'resume', flags: given.flags, io };
  const wrong = (await misplaced(seam, taken, place)) ?? missingModel(taken, place);
  if (wrong !== undefined) throw wrong;
  const request = standingQuestion(reading);
  const value = readAnswer(given, reading);
  if (value !== undefined && request !== undefined && 'hash' in request)
    checkCall(row.runId, request, given.flags['call'] ?? '');
  const isJson = given.flags['json'] === true;
  if (request !== undefined && value === undefined && (io.terminal === undefined || isJson))
    return sayQuestion(request, taken, { seam, io, isJson });
  const answer = request === undefined || value === undefined ? undefined : { request, value };
  const askFirst = answer === undefined && row.status !== 'running' ? request : undefined;
  return goOn({ seam, io, settings, storeFlag, row, answer, askFirst, isJson });
}

/** What must be answered before the run can be resumed: without an answer it would be denied. */
function standingQuestion(reading: RunReading): PersonRequest | undefined {
  const request = openQuestion(reading);
  if (request === undefined || request.type === 'mend' || hasAnswer(reading)) return undefined;
  return request;
}

/** Words are taken as they are; what is JSON is read, unless words are asked for. */
function readAnswer({ flags }: Given, reading: RunReading): RunAnswer | undefined {
  const typed = flagText(flags, 'answer');
  if (typed === undefined) return undefined;
  if (hasAnswer(reading))
    throw usageError({
      message: `The run "${reading.row.runId}" was answered already, and the first answer counts`,
      hint: 'Leave --answer out to resume it',
    });
  const request = standingQuestion(reading);
  if (request === undefined)
    throw usageError({
      message: `The run "${reading.row.runId}" asks nothing that could be answered`,
      hint: 'Leave --answer out',
    });
  if (request.type === 'question') return typed;
  try {
    return JSON.parse(typed) as RunAnswer; // Checked where it is taken.
  } catch {
    return typed; // A word, as most answers are.
  }
}

/** No person can be asked: prints what it waits for, and how to answer. Nothing was done. */
async function sayQuestion(
  request: PersonRequest,
  { reading, storeFlag, settings }: TakenRun,
  { seam, io, isJson }: { readonly seam: AgentSeam; readonly io: CliIo; readonly isJson: boolean },
): Promise<number> {
  const screen = createScreen(io);
  const facts = await previewCall({ seam, io }, settings, request);
  const typing = { command: io.command, storeFlag, nowMs: io.now() };
  const lines = [...approvalLines(request, screen, facts), ...stepLines(nextSteps(reading, typing), screen)];
  io.stderr.write(lines.map((line) => `${line}\n`).join(''));
  if (isJson) io.stdout.write(eventLine({ type: 'run-finished', outcome: waitingOutcome(request, reading) }));
  return exitCodes.waiting;
}

/** As the record has it. Where the process died while it was asking there is none yet, and what is known of it is said. */
function waitingOutcome(request: PersonRequest, { outcome, row, usage, turns }: RunReading): RunOutcome {
  if (outcome !== undefined) return outcome;
  return {
    type: 'suspended',
    runId: row.runId,
    reason: suspensionOf(request),
    request,
    messages: [],
    usage,
    turns,
    recoveries: [],
  };
}
