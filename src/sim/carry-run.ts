import type { RunOutcome } from '../agent/run-outcome.ts';
import type { Failure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { answerOf, startProcess } from './start-process.ts';
import type { PlannedMember } from './plan-family.ts';
import { sendPlanned } from './sim-sendings.ts';
import { reach } from './sim-process.ts';
import type { SimProcess } from './sim-process.ts';
import { takeUp } from './take-up.ts';
import type { Told, Wish } from './take-up.ts';
import { beginAnew, report, tell } from './world.ts';
import type { World } from './world.ts';

/** More lives, and more steps in one of them, than any plan can need. */
const maxLives = 30;
const maxSteps = 30;
const pauseMs = 1000;

/** A run that has ended, and the process that saw its end. */
export interface Carried {
  readonly outcome: RunOutcome;
  readonly process: SimProcess;
}

/** Carries the run of a world to its end, through as many processes as it takes. Nothing where it does not end. */
export async function carryRun(world: World): Promise<Carried | undefined> {
  for (let life = 0; life < maxLives; life += 1) {
    const process = startProcess(world);
    const ended = await live(process);
    // What a dead process had in hand comes to nothing before another one begins.
    await world.clock.settle();
    retire(process);
    if (ended !== undefined) return { outcome: ended, process };
    if (world.problems.length > 0) return undefined;
  }
  report(world, 'never-ends', `The run has not ended after ${maxLives} processes`);
  return undefined;
}

/** One life of the run: until the process is dead, or the run has ended. */
async function live(process: SimProcess): Promise<RunOutcome | undefined> {
  const { world } = process;
  if (process.life > 1) sendPlanned(process, 'dead');
  let wish: Wish = {};
  for (let step = 0; step < maxSteps; step += 1) {
    const told = await takeUp(process, wish);
    const next = await follow(process, told);
    if (next.type === 'over') return next.outcome;
    if (process.isDead) return undefined;
    ({ wish } = next);
  }
  report(world, 'never-ends', `The run has not ended after ${maxSteps} steps of one process`);
  return undefined;
}

type Next =
  | { readonly type: 'go-on'; readonly wish: Wish }
  | { readonly type: 'over'; readonly outcome: RunOutcome | undefined };

const over: Next = { type: 'over', outcome: undefined };
const goOn: Next = { type: 'go-on', wish: {} };

async function follow(process: SimProcess, told: Told): Promise<Next> {
  const { world } = process;
  switch (told.type) {
    case 'died':
      return over;
    case 'parked':
      // A person looks at it and takes it up by hand.
      return { type: 'go-on', wish: { byHand: true } };
    case 'open':
      report(world, 'never-ends', `Nobody says what becomes of the run: ${told.why}`);
      return over;
    case 'rejected':
      return afterRejection(process, told.error);
    default:
      return afterOutcome(process, told.outcome);
  }
}

/** Only the disk may refuse: somebody tries again later. */
async function afterRejection(process: SimProcess, error: unknown): Promise<Next> {
  const { world } = process;
  const failure = RerailError.isInstance(error) ? error.failure : undefined;
  tell(world, `refused: ${failure?.code ?? String(error)}: ${failure?.message ?? ''}`);
  if (failure?.origin !== 'storage') {
    report(world, 'unexpected', `The run cannot be taken up: ${String(error)}`);
    return over;
  }
  // Nothing of it is on record: whoever wants it begins it once more.
  if (failure.code === 'STORAGE_NOT_FOUND') process.hasBegun = false;
  return pause(process, untilGiven(world, failure));
}

/** How long it is worth to wait: where another process holds the run, until its lease runs out. */
function untilGiven({ clock }: World, failure: Failure | undefined): number {
  const untilMs = failure?.context['untilMs'];
  return typeof untilMs === 'number' ? Math.max(1, untilMs - clock.wallMs() + 1) : pauseMs;
}

async function pause(process: SimProcess, delayMs: number, wish: Wish = {}): Promise<Next> {
  let isOver = false;
  process.clock.after(delayMs, () => {
    isOver = true;
  });
  await process.world.clock.runUntil(() => isOver || process.isDead, delayMs + 1);
  return { type: 'go-on', wish };
}

async function afterOutcome(process: SimProcess, outcome: RunOutcome): Promise<Next> {
  const { world } = process;
  if (reach(process, 'after outcome')) return over;
  switch (outcome.type) {
    case 'suspended':
      return afterSuspension(process, outcome);
    case 'completed':
    case 'stopped':
      return outcome.unsaved === undefined ? { type: 'over', outcome } : pause(process, pauseMs);
    default: {
      if (outcome.unsaved !== undefined) return pause(process, pauseMs);
      if (!world.plan.goesOnAfterFailure) return { type: 'over', outcome };
      return goOnAfter(process, outcome);
    }
  }
}

/** Somebody decides to go on with a run that has failed or was cancelled: once. */
function goOnAfter({ world }: SimProcess, outcome: RunOutcome): Next {
  const { promised } = world;
  if (promised.hasGoneOn) return { type: 'over', outcome };
  tell(world, 'somebody decides to go on all the same');
  promised.hasGoneOn = true;
  promised.outcome = undefined;
  promised.cancelled = undefined;
  beginAnew(world);
  return { type: 'go-on', wish: { goesOn: true } };
}

async function afterSuspension(
  process: SimProcess,
  outcome: Extract<RunOutcome, { type: 'suspended' }>,
): Promise<Next> {
  const { world } = process;
  const { request, resumeAt, reason, failure } = outcome;
  if (reason === 'storage' || reason === 'released') return pause(process, untilGiven(world, failure));
  if (request !== undefined) {
    if (reach(process, 'before approval')) return over;
    const answer = answerOf(world, request);
    tell(world, `a person answers: ${JSON.stringify(answer)}`);
    return { type: 'go-on', wish: { answer } };
  }
  beginAnew(world);
  if (resumeAt === undefined) return goOn;
  return pause(process, Math.max(1, resumeAt - world.clock.wallMs()));
}

/** A process has ended: what it sent to models and did not put on record was cut off, and something did that. */
function retire({ world, sent, kept, disturbances }: SimProcess): void {
  const cut = sent - kept;
  // Whatever disturbs a process disturbs all that work side by side in it.
  if (cut < 0 || cut > disturbances * widthOf(world.plan.top))
    report(
      world,
      'ledger-wrong',
      `A process asked models ${sent} times and put ${kept} on record, and was disturbed ${disturbances} times`,
    );
  world.model.cut += Math.max(0, cut);
}

/** How many models may be asked at the same time, at most. */
function widthOf(member: PlannedMember): number {
  if (!('members' in member) || member.type === 'hand-off') return 1;
  // A member of a team may have two jobs.
  const share = member.type === 'team' ? 2 : 1;
  return member.members.reduce((sum, each) => sum + widthOf(each) * share, 0);
}
