import { printable } from '../../base/printable.ts';
import type { CommandRun, Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { systemSeam } from '../run-reading/agent-seam.ts';
import type { AgentSeam } from '../run-reading/agent-seam.ts';
import { misplaced } from '../run-reading/check-place.ts';
import { finishedRun } from '../run-reading/find-run.ts';
import { findOptionsOf } from '../run-reading/open-run-store.ts';
import { shellWord } from '../run-reading/run-words.ts';
import { takeRun } from '../run-reading/take-run.ts';

/** Ends a run. */
export const runCancel: CommandRun = (given, io) => cancelWith(systemSeam, given, io);

/** The same, with an agent that is handed in. */
export async function cancelWith(seam: AgentSeam, given: Given, io: CliIo): Promise<number> {
  const taken = await takeRun(seam, given, io);
  const { settings, reading, storeFlag } = taken;
  const { row } = reading;
  const { runId, owner } = row;
  const name = printable(runId);
  const say = (text: string): void => void io.stdout.write(`${text}\n`);
  const goOn = `${io.command} resume ${shellWord(name)}${storeFlag}`;
  if (row.status === 'cancelled') {
    say(`The run "${name}" was cancelled already. To resume it: ${goOn}`);
    return 0;
  }
  if (row.status === 'completed' || row.status === 'stopped' || row.status === 'failed')
    throw finishedRun(row, findOptionsOf(io, given.flags));
  const wrong = await misplaced(seam, taken, { verb: 'cancel', flags: given.flags, io });
  // Its process receives the cancel request from anywhere, also a program that is not ours.
  if (owner === undefined && wrong?.failure.code === 'PATH_OUTSIDE_WORKSPACE') throw wrong;
  const { reason } = given.flags;
  const opened = await seam.openAgent(settings);
  try {
    await opened.agent.cancel(
      runId,
      typeof reason === 'string' && reason !== '' ? reason : 'cancelled at the command line',
    );
    const after = await opened.store.runs.find(runId);
    if (after?.status === 'cancelled') say(`Cancelled. What was done stays done. To resume it: ${goOn}`);
    else if (owner !== undefined)
      say(
        `Another process (${printable(owner.id)}) runs "${name}". It receives the request within 5 s, and cancels the run.`,
      );
    else say(`Cancellation recorded; the next worker will end the run "${name}".`);
  } finally {
    await opened.close();
  }
  return 0;
}
