import type { CommandRun, Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { systemSeam } from '../run-reading/agent-seam.ts';
import type { AgentSeam } from '../run-reading/agent-seam.ts';
import { answerCall } from '../run-reading/answer-call.ts';
import type { CallVerdict } from '../run-reading/answer-call.ts';
import { usageError } from '../text/usage-error.ts';

/** Says whether a call happened. */
export const runSettle: CommandRun = (given, io) => settleWith(systemSeam, given, io);

/** The same, with an agent that is handed in. */
export async function settleWith(seam: AgentSeam, given: Given, io: CliIo): Promise<number> {
  return answerCall({ seam, io, verdict: verdictIn(given) }, given);
}

const verdicts: readonly (readonly [flag: string, verdict: CallVerdict])[] = [
  ['happened', 'happened'],
  ['didNotHappen', 'did-not-happen'],
  ['unknown', 'unknown'],
];

function verdictIn({ flags }: Given): CallVerdict {
  const [only, ...more] = verdicts.filter(([flag]) => flags[flag] === true);
  if (only === undefined || more.length > 0)
    throw usageError({
      message: 'Say one thing about the call',
      hint: 'Give one of --happened, --did-not-happen and --unknown',
    });
  if (flags['result'] !== undefined && only[1] !== 'happened')
    throw usageError({ message: '--result belongs to --happened', hint: 'Leave --result out' });
  return only[1];
}
