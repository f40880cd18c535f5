import { CancellationScope } from '@temporalio/workflow';
import { agentProgram } from './agent-program.ts';
import { carryRun } from './carry-run.ts';
import type { Begin, CarriedResult } from './messages.ts';
import { createTemporalSandbox } from './temporal-sandbox.ts';

/** The one workflow: whatever the agent, this is what Temporal runs and replays. Named as `workflowType`. */
export function rerailRun(begin: Begin): Promise<CarriedResult> {
  const sandbox = createTemporalSandbox();
  // The run ends by itself when it is cancelled: with what its effects came to.
  return CancellationScope.nonCancellable(() => carryRun(sandbox, agentProgram(begin.facts), begin));
}
