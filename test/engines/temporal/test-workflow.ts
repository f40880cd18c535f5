import { CancellationScope } from '@temporalio/workflow';
import { carryRun } from '../../../src/engines/temporal/carry-run.ts';
import type { Begin, CarriedResult } from '../../../src/engines/temporal/messages.ts';
import { createTemporalSandbox } from '../../../src/engines/temporal/temporal-sandbox.ts';
import { programOf } from './programs.ts';
import type { ProgramFacts } from './programs.ts';

/** As `workflow.ts`, but for the programs of the tests in the place of the agent's. */
export function rerailRun(begin: Begin): Promise<CarriedResult> {
  const sandbox = createTemporalSandbox();
  const program = programOf(begin.facts as unknown as ProgramFacts); // What the tests' engines are set up with.
  return CancellationScope.nonCancellable(() => carryRun(sandbox, program, begin));
}
