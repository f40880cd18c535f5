import type { RunOutcome } from '../../src/index.ts';
import {
  createFlowWorld,
  failingFlow,
  payingFlow,
  payingHandOff,
  payingTeam,
  unevenFlow,
} from '../flow-records/world.ts';
import type { FlowWorld } from '../flow-records/world.ts';
import type { Lived } from './world.ts';
import { runId } from './world.ts';
import type { Scenario } from './scenarios.ts';

// Flows, hand-offs and teams that were lived through once. Their bundles hold the runs below them too. Until the release that
// brings flows, they may be recorded anew: remove `golden/flow-*.json`, then record as `golden.test.ts` says.

/** What its own code says of the nodes is not on record: the record of each of them is. */
async function lived(world: FlowWorld, outcome: Promise<RunOutcome>): Promise<Lived> {
  const { store, until } = world;
  return { store, runId, outcome: { ...(await until(outcome)), nodes: undefined } as unknown as RunOutcome };
}

async function flowOpen(): Promise<Lived> {
  const world = createFlowWorld();
  return lived(world, payingFlow(world).run('Pay my bill', { runId }));
}

async function flowAnswered(): Promise<Lived> {
  const world = createFlowWorld();
  await world.until(payingFlow(world).run('Pay my bill', { runId }));
  return lived(world, payingFlow(world).resume(runId, { answer: true }));
}

async function flowCancelled(): Promise<Lived> {
  const world = createFlowWorld();
  const bill = payingFlow(world);
  await world.until(bill.run('Pay my bill', { runId }));
  await world.until(bill.cancel(runId, 'nobody wants it any more'));
  return lived(world, bill.run('Pay my bill', { runId }));
}

async function flowFailedThenResumed(): Promise<Lived> {
  const world = createFlowWorld();
  await world.until(failingFlow(world, [{ failure: 'INVALID_REQUEST' }]).run('Pay my bill', { runId }));
  return lived(world, failingFlow(world, ['All is told.']).resume(runId));
}

async function flowFailed(): Promise<Lived> {
  const world = createFlowWorld();
  return lived(world, failingFlow(world, [{ failure: 'INVALID_REQUEST' }]).run('Pay my bill', { runId }));
}

async function flowUneven(): Promise<Lived> {
  const world = createFlowWorld();
  return lived(world, unevenFlow(world).run('Pay my bill', { runId }));
}

async function handOffOpen(): Promise<Lived> {
  const world = createFlowWorld();
  return lived(world, payingHandOff(world).run('Pay my bill', { runId }));
}

async function handOffAnswered(): Promise<Lived> {
  const world = createFlowWorld();
  await world.until(payingHandOff(world).run('Pay my bill', { runId }));
  return lived(world, payingHandOff(world).resume(runId, { answer: true }));
}

async function teamOpen(): Promise<Lived> {
  const world = createFlowWorld();
  return lived(world, payingTeam(world).run('Pay my bill', { runId }));
}

async function teamAnswered(): Promise<Lived> {
  const world = createFlowWorld();
  await world.until(payingTeam(world).run('Pay my bill', { runId }));
  return lived(world, payingTeam(world).resume(runId, { answer: true }));
}

export const flowScenarios: readonly Scenario[] = [
  { name: 'flow-open', live: flowOpen },
  { name: 'flow-answered', live: flowAnswered },
  { name: 'flow-cancelled', live: flowCancelled },
  { name: 'flow-failed', live: flowFailed },
  { name: 'flow-failed-then-resumed', live: flowFailedThenResumed },
  // Recorded when it was noted of a tool that it is a node; those above were recorded before.
  { name: 'flow-uneven', live: flowUneven },
  { name: 'flow-hand-off-open', live: handOffOpen },
  { name: 'flow-hand-off-answered', live: handOffAnswered },
  { name: 'flow-team-open', live: teamOpen },
  { name: 'flow-team-answered', live: teamAnswered },
];
