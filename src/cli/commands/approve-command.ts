import type { CommandRun, Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { systemSeam } from '../run-reading/agent-seam.ts';
import type { AgentSeam } from '../run-reading/agent-seam.ts';
import { answerCall } from '../run-reading/answer-call.ts';

/** Approves the call that a run asks about. */
export const runApprove: CommandRun = (given, io) => approveWith(systemSeam, given, io);

/** The same, with an agent that is handed in. */
export function approveWith(seam: AgentSeam, given: Given, io: CliIo): Promise<number> {
  return answerCall({ seam, io, verdict: 'yes' }, given);
}
