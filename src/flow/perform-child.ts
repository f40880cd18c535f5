import type { RunEvent } from '../agent/run-event.ts';
import type { RunOutcome } from '../agent/run-outcome.ts';
import type { ChildUse } from '../agent/tools/tool-call.ts';
import { createAborter, onAbort, wait } from '../base/abort.ts';
import { defined } from '../base/defined.ts';
import { duration } from '../base/duration.ts';
import { hashText } from '../base/hash.ts';
import { createFailure, severityOf } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import type { Message } from '../model/message.ts';
import type { AgentRuns } from '../runtime/run/agent-runs.ts';
import { runWithin } from '../runtime/tool-call/bounded-work.ts';
import type { WorkEnd } from '../runtime/tool-call/bounded-work.ts';
import { childPlace } from '../runtime/children/child-place.ts';
import type { ChildPlace } from '../runtime/children/child-place.ts';
import { isCancelled } from '../runtime/record/durable-errors.ts';
import type { NodeCall, NodeEnd } from '../runtime/children/node.ts';
import type { ResumeOptions, RunInput } from '../runtime/run/run-input.ts';
import { boundsOf, childUse } from './child-bounds.ts';
import { failureOf } from './child-failure.ts';
import { nextLifeOf, whyNotAfresh } from './fresh-child.ts';

/** A run below another one. */
export interface Child {
  /** Of the agent, as it is below this very parent. */
  readonly runs: AgentRuns;
  readonly runId: string;
  /** What it is asked, where it has not begun. */
  readonly input: (runId: string) => RunInput | Promise<RunInput>;
  /** Of that, what others did. */
  readonly told?: (runId: string) => readonly Message[];
  /** It failed or was cancelled before, and may be continued. */
  readonly isAgain: boolean;
  /** It was stopped in an earlier life of the run above: that is final, but it may be begun afresh. */
  readonly mayBeginAfresh: boolean;
  /** See `ChildUse`. */
  readonly handed?: ChildUse['handed'];
  /** Where it went well, what is kept of it is all that anybody wants of it. */
  readonly isReadNoMore?: true;
  /** What is kept of it where it went well. */
  readonly contentOf: (outcome: Extract<RunOutcome, { type: 'completed' }>) => string;
}

/** The name of a run below another one: the same after every crash. */
export function childIdOf(runId: string, key: string): string {
  const id = `${runId}/${key}`;
  if (id.length <= maxIdLength) return id;
  // Code that looks for the runs below one finds them by the beginning of their name.
  const short = `${runId}/${hashText(key).slice(0, hashLength)}`;
  return short.length <= maxIdLength
    ? short
    : `${id.slice(0, keptLength)}/${hashText(id).slice(0, hashLength)}`;
}

/** Shorter than the name of a run may be, so that its later lives have room for their number. */
const maxIdLength = 195;
const keptLength = 150;
const hashLength = 24;

/**
 * Begins the run, joins it, or continues it, and says how it ended or what it waits for. What it has done is on its own record,
 * so that this can be called again after whatever happened.
 */
export async function performChild(call: NodeCall, child: Child): Promise<NodeEnd> {
  try {
    const end = await carry(call, child);
    if (end.type === 'refused') return { type: 'failed', failure: end.failure };
    const { outcome } = end;
    if (outcome.type !== 'stopped' || !child.mayBeginAfresh) return endOf(child, outcome);
    return await performAfresh(call, child, outcome);
  } catch (error) {
    const failure = call.signal.aborted ? undefined : passingFailure(error);
    if (failure === undefined) throw error;
    // The run is as it was: it has not failed, and continues where it can be written down again.
    return { type: 'waiting', wait: { reason: 'storage', failure } };
  }
}

/** Of the store, where it may work again: what is lost for good is no reason to wait. */
function passingFailure(error: unknown): Failure | undefined {
  if (!RerailError.isInstance(error)) return undefined;
  const { failure } = error;
  return failure.origin === 'storage' && severityOf(failure) !== 'fatal' ? failure : undefined;
}

/** What was stopped is over; a second life of it begins where nothing would be done twice. */
async function performAfresh(
  call: NodeCall,
  child: Child,
  outcome: Extract<RunOutcome, { type: 'stopped' }>,
): Promise<NodeEnd> {
  const reason = whyNotAfresh(child.runs.parts, outcome);
  if (reason !== undefined) return endOf(child, outcome, reason);
  const fresh: Child = { ...child, runId: nextLifeOf(child.runId) };
  const again = await carry(call, fresh);
  return again.type === 'refused' ? { type: 'failed', failure: again.failure } : endOf(fresh, again.outcome);
}

/** The one above is cancelled: so is this one, whichever of its lives it is in. */
export async function cancelChild(runs: AgentRuns, runId: string): Promise<void> {
  for (const id of [runId, nextLifeOf(runId)])
    if (await runs.knows(id)) await runs.cancel(id, 'the parent run was cancelled');
}

type Carried =
  | { readonly type: 'came-to'; readonly outcome: RunOutcome }
  /** Nothing was begun. */
  | { readonly type: 'refused'; readonly failure: Failure };

async function carry(call: NodeCall, child: Child): Promise<Carried> {
  const { runs, runId } = child;
  // Each wait costs a promise, and most of this is known at once.
  const knowing = runs.knows(runId);
  const isKnown = typeof knowing === 'boolean' ? knowing : await knowing;
  const tooMany = isKnown ? undefined : checkFamily(call);
  if (tooMany !== undefined) return { type: 'refused', failure: tooMany };
  if (!isKnown) call.family.runs += 1;
  const asking = isKnown ? 'The run has started' : inputIn(call, child);
  const input = asking instanceof Promise ? await asking : asking;
  const wish = obey(call, child);
  let isDone = false;
  try {
    const tell = teller(call, runId, isKnown);
    const join = (): Promise<RunOutcome> =>
      runs.run(input, { runId, ...optionsOf(call, child, { signal: wish.signal, tell }) });
    const found = await join();
    const begun = found.type === 'suspended' ? await outwait(call, found, join) : found;
    isDone = begun.type === 'completed';
    // As nearly all do.
    if (isDone) return { type: 'came-to', outcome: begun };
    const options = optionsOf(call, child, { signal: wish.signal, tell, begun });
    return { type: 'came-to', outcome: await goOn(call, { child, begun, options }) };
  } finally {
    wish.stopListening();
    if (isDone && child.isReadNoMore === true) runs.forget(runId);
    else if (!isKnown) call.onForgotten(() => runs.forget(runId));
  }
}

/** A function of the caller may say it: one that never comes to an end must not hold the node. */
function inputIn(call: NodeCall, child: Child): RunInput | Promise<RunInput> {
  const { parts, signal, leftMs } = call;
  const nothing = (): undefined => undefined;
  const limits = { clock: parts.clock, signal, timeoutMs: leftMs, onInterrupt: nothing, onLate: nothing };
  const end = runWithin(() => child.input(child.runId), limits);
  return end instanceof Promise ? end.then((late) => givenIn(late, call, child)) : givenIn(end, call, child);
}

function givenIn(end: WorkEnd<RunInput>, { signal, leftMs }: NodeCall, { runId }: Child): RunInput {
  if (end.type === 'returned') return end.value;
  if (end.type === 'threw') throw end.thrown;
  if (end.type === 'aborted') throw signal.reason;
  throw RerailError.from(
    createFailure('TIMEOUT', {
      origin: 'flow',
      message: `The input of the run "${runId}" was not ready within ${duration(leftMs)}`,
      hint: 'Check whether the "input" of the node waits for something that never comes.',
      context: { childId: runId },
    }),
  );
}

function checkFamily({ family, depth }: NodeCall): Failure | undefined {
  if (depth + 1 > family.maxDepth) return boundReached('maxDepth', family.maxDepth, 'agents below agents');
  if (family.runs >= family.maxRuns)
    return boundReached('maxRuns', family.maxRuns, 'runs under the first one');
  return undefined;
}

function boundReached(limit: string, bound: number, what: string): Failure {
  return createFailure('BUDGET_EXCEEDED', {
    origin: 'flow',
    message: `There are ${bound} ${what}: no more are started`,
    hint: 'Agents that keep passing their work on usually have a mistake in their instructions.',
    context: { limit, bound },
  });
}

interface Wish {
  readonly signal: AbortSignal;
  readonly stopListening: () => void;
}

/** Who cancels the run above cancels this one. Where the run above is only released, so that another process resumes it, so is this one. */
function obey({ signal }: NodeCall, { runs, runId }: Child): Wish {
  // Without a store there is nothing to resume: to be released is to be cancelled.
  if (runs.parts.store === undefined) return { signal, stopListening: () => undefined };
  const controller = createAborter();
  const follow = (): void => {
    if (isCancelled(signal.reason)) return controller.abort(signal.reason);
    // Where it is not carried here there is nothing to release.
    void runs.release(runId).catch(() => undefined);
  };
  const stopListening = onAbort(signal, follow);
  return { signal: controller.signal(), stopListening };
}

type Tell = NonNullable<ResumeOptions['onEvent']>;

/** What a run that is found waiting or ended reports again was emitted when it came. */
function teller({ tell }: NodeCall, runId: string, isKnown: boolean): Tell {
  let isOld = isKnown;
  return (event) => {
    if (isOld && toldBefore.has(event.type)) return;
    isOld = false;
    tell(runId, event);
  };
}

const toldBefore: ReadonlySet<RunEvent['type']> = new Set([
  'approval-requested',
  'run-suspended',
  'run-finished',
]);

interface Optional {
  readonly signal: AbortSignal;
  readonly tell: Tell;
  readonly begun?: RunOutcome;
}

function optionsOf(call: NodeCall, { runId }: Child, { signal, tell, begun }: Optional): ResumeOptions {
  const { family, depth } = call;
  const place: ChildPlace = { bounds: boundsOf(call, runId, begun), family, depth: depth + 1 };
  return { signal, onEvent: tell, [childPlace]: place };
}

/** A process that died with the run above has left this one behind: its lease runs out a moment later than the other. */
async function outwait(
  { parts, signal, leftMs }: NodeCall,
  found: RunOutcome,
  join: () => Promise<RunOutcome>,
): Promise<RunOutcome> {
  const untilMs = heldUntilMs(found);
  if (untilMs === undefined) return found;
  const { clock, leaseMs } = parts;
  const waitMs = Math.max(0, untilMs - clock.wallMs());
  if (waitMs > Math.min(leaseMs, leftMs)) return found;
  await wait(waitMs, { clock, signal });
  return signal.aborted ? found : join();
}

/** Until when another process executes the run, where that is why it could not be resumed. */
function heldUntilMs(outcome: RunOutcome): number | undefined {
  if (outcome.type !== 'suspended' || outcome.failure?.code !== 'STORAGE_LOCKED') return undefined;
  const { untilMs } = outcome.failure.context;
  return typeof untilMs === 'number' ? untilMs : undefined;
}

interface Begun {
  readonly child: Child;
  readonly begun: RunOutcome;
  readonly options: ResumeOptions;
}

/** An answer goes to the question that it was given to, and to no other. */
async function goOn(call: NodeCall, { child, begun, options }: Begun): Promise<RunOutcome> {
  const { runs, runId, isAgain } = child;
  const { answer } = call;
  if (begun.type === 'suspended' && answer !== undefined && heldUntilMs(begun) === undefined) {
    const { said, about } = answer;
    const isAnswered = (outcome: RunOutcome): boolean =>
      said.given && outcome.type === 'suspended' && about === outcome.request?.id;
    if (about !== undefined && begun.request !== undefined && begun.request.id !== about) return begun;
    // Where the disk failed, only the process that resumes the run sees that it still asks.
    let outcome = isAnswered(begun) ? begun : await runs.resume(runId, options);
    for (let tries = 0; tries < maxAnswers && isAnswered(outcome) && said.given; tries += 1)
      outcome = await runs.resume(runId, { ...options, answer: said.value } as ResumeOptions); // As taken above.
    return outcome;
  }
  const canGoOn = begun.type === 'failed' || begun.type === 'cancelled';
  return isAgain && canGoOn && !call.signal.aborted ? runs.resume(runId, options) : begun;
}

/** A run that could not write down that it asks takes no answer until it has. */
const maxAnswers = 2;

/** What the parent run gets; `reason` says why it was not restarted. */
function endOf(child: Child, outcome: RunOutcome, reason?: string): NodeEnd {
  const used = { child: childUse(child, outcome) };
  const { unsaved } = outcome;
  // What is not written down has not happened: the run above would end, and leave this one open for ever.
  if (unsaved !== undefined && child.runs.parts.store?.durability === 'required')
    return { type: 'waiting', wait: { reason: 'storage', failure: unsaved }, ...used };
  switch (outcome.type) {
    case 'completed':
      return { type: 'ok', content: child.contentOf(outcome), ...used };
    case 'suspended': {
      const { request, failure } = outcome;
      // There is no need to look before the other process can have lost it.
      const resumeAt = outcome.resumeAt ?? heldUntilMs(outcome);
      const awaited = { reason: outcome.reason, ...defined({ resumeAt, request, failure }) };
      return { type: 'waiting', wait: awaited, ...used };
    }
    default:
      return { type: 'failed', failure: failureOf(outcome, child.runId, reason), ...used };
  }
}
