import { messagesOf } from '../../agent/turn/history.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Message, UserPart } from '../../model/message.ts';
import type { Store } from '../../model/store/store.ts';
import { createAgentEffects } from '../agent-effects.ts';
import type { AgentSeams } from '../agent-options.ts';
import type { AgentParts } from '../agent-parts.ts';
import { awaitSetup } from '../await-setup.ts';
import { tellWhenKept } from '../tool-call/background.ts';
import { beginRun } from './begin-run.ts';
import { drive } from '../drive.ts';
import type { DriveInput } from '../drive.ts';
import type { FailedHook } from '../hooks/hook-notes.ts';
import type { AgentExtras } from '../children/inherited.ts';
import type { RunSnapshot } from '../record/journal.ts';
import { bareFailure, driverVersion, endRun, forgetRun, letGoOutcome, unknownRun } from './held-runs.ts';
import type { HeldRuns } from './held-runs.ts';
import { createAgentKeeper } from '../record/agent-keeper.ts';
import { publish } from './live-run.ts';
import type { LiveRun } from './live-run.ts';
import { createMemoryEngine } from '../record/memory-engine.ts';
import { noteOutcome } from './note-outcome.ts';
import { cancelRun } from './cancel-run.ts';
import { promised } from '../record/promised.ts';
import { resumeRun } from './resume-run.ts';
import { readMessage } from './run-input.ts';
import type { ResumeOptions, RunInput, RunOptions, TakeOverOptions } from './run-input.ts';
import { sendSignal } from './send-signal.ts';
import { createEventQueue, streamOf } from '../watch/run-stream.ts';
import type { RunStream } from '../watch/run-stream.ts';
import { spilledHashes } from '../tool-result/spill-result.ts';
import { journalOfRun, takeOverRun } from '../hosted/take-over.ts';

/** What can be done with the runs of one agent. */
export interface AgentRuns {
  readonly name: string;
  readonly run: (input: RunInput, options?: RunOptions) => Promise<RunOutcome>;
  readonly stream: (input: RunInput, options?: RunOptions) => RunStream;
  readonly resume: (runId: string, options?: ResumeOptions) => Promise<RunOutcome>;
  readonly cancel: (runId: string, reason?: string) => Promise<void>;
  readonly inject: (runId: string, message: string | readonly UserPart[] | Message) => Promise<void>;
  readonly release: (runId: string) => Promise<void>;
  readonly journal: (runId: string) => Promise<RunSnapshot | undefined>;
  readonly takeOver: (record: RunSnapshot, options?: TakeOverOptions) => Promise<RunOutcome>;
  /** Whether there is a run of that name, here or on record. */
  readonly knows: (runId: string) => boolean | Promise<boolean>;
  /** What the agent is made of. */
  readonly parts: AgentParts;
  /** Does not keep a run that has ended any longer. */
  readonly forget: (runId: string) => void;
  /** An engine outside executes the runs. */
  readonly isHosted: boolean;
  /** Runs what an engine hands to this process. Nothing where there is none. */
  readonly serve: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Checks and resolves an agent, with more than it was made with where a run has that. */
export type ResolveParts = (seams: AgentSeams, ofRun?: AgentExtras) => AgentParts;

/** Makes the agent's parts, with a way to tell of failing hooks, and holds its runs. */
export function createAgentRuns(resolve: ResolveParts): AgentRuns {
  const runs = new Map<string, LiveRun>();
  const seams: AgentSeams = {
    onHookFailed: (failed) => tellHookFailed(runs, failed),
    canRead: (hash, runId) => canRead(runs.get(runId), hash),
  };
  const parts = resolve(seams);
  const keeper = createAgentKeeper(parts, () => held);
  const effects = createAgentEffects(parts, {
    liveOf: (runId) => runs.get(runId),
    onBackground: (live, report) => tellWhenKept(held, live, report),
  });
  const engine = createMemoryEngine({
    effects: awaitSetup(effects, parts.setup, () => held),
    clock: parts.clock,
    version: driverVersion,
    limits: { maxEndedJournals: 0 },
    ...(keeper === undefined ? {} : { recorder: keeper.recorder }),
    program: (durable, input) => {
      const live = runs.get(durable.runId) as LiveRun; // It is put there before the engine starts.
      const onOutcome = (run: LiveRun, outcome: RunOutcome): void | Promise<void> =>
        noteOutcome(held, run, outcome);
      return drive({ parts, live, onOutcome }, durable, input as unknown as DriveInput); // See `begin`.
    },
    onEnded: (runId, ended) => {
      const live = runs.get(runId);
      if (live === undefined || live.ended !== undefined) return;
      if (ended.type !== 'broken' && live.ending !== undefined) return endRun(held, live, live.ending);
      // The driver itself broke, or the run was cancelled before it began: no caller waits for ever.
      const broken = ended.type === 'broken' ? ended.failure : lostFailure(runId);
      endRun(held, live, bareFailure(held, live, broken));
    },
    onLetGo: (runId, failure) => {
      void keeper?.release(runId);
      letGo(held, runId, failure);
    },
  });
  // Where it cannot be delivered, the outcome says why, or the process that executes the run finds the cancel request on record.
  const wishEnd = (runId: string, reason: string): void =>
    void cancelRun(held, runId, reason).catch(() => undefined);
  const resolveWith: HeldRuns['resolveWith'] = (extras) => resolve(seams, extras);
  const held: HeldRuns = { parts, resolveWith, engine, keeper, runs, ended: new Set(), messages: 0, wishEnd };
  return facesOf(held);
}

function facesOf(held: HeldRuns): AgentRuns {
  const { parts, runs, keeper } = held;
  return {
    name: parts.name,
    parts,
    knows: (runId) => runs.has(runId) || (keeper !== undefined && isOnRecord(keeper.store, runId)),
    run: promised((input: RunInput, options: RunOptions = {}) => beginRun(held, input, { options }).outcome),
    stream: (input, options = {}) => {
      const queue = createEventQueue();
      return streamOf(queue, beginRun(held, input, { options, watcher: queue.watcher }));
    },
    resume: (runId, options = {}) => resumeRun(held, runId, options),
    cancel: (runId, reason = 'cancelled by the caller') => cancelRun(held, runId, reason),
    inject: (runId, message) => inject(held, runId, message),
    release: (runId) => release(held, runId),
    journal: (runId) => journalOfRun(held, runId),
    takeOver: (record, options = {}) => takeOverRun(held, record, options),
    forget: (runId) => forgetRun(held, runId),
    isHosted: false,
    serve: async () => undefined,
    close: () => closeRuns(held),
  };
}

async function isOnRecord({ runs }: Store, runId: string): Promise<boolean> {
  return (await runs.find(runId)) !== undefined;
}

function tellHookFailed(
  runs: ReadonlyMap<string, LiveRun>,
  { hook, point, failure, runId }: FailedHook,
): void {
  const live = runs.get(runId);
  if (live !== undefined) publish(live, { type: 'hook-failed', hook, point, failure });
}

/** A run reads what its own tools gave, in this life or in an earlier one. */
function canRead(live: LiveRun | undefined, hash: string): boolean {
  if (live?.state === undefined) return false;
  return live.spilled.has(hash) || spilledHashes(messagesOf(live.state.history)).has(hash);
}

function lostFailure(runId: string): Failure {
  const message = `The run "${runId}" ended without an outcome`;
  return createFailure('INTERNAL', { origin: 'agent', message });
}

/** The run is no longer carried here. */
function letGo(held: HeldRuns, runId: string, failure: Failure | undefined): void {
  const live = held.runs.get(runId);
  if (live === undefined || live.ended !== undefined) return;
  // Where everything that led to the end is on record, only that it has ended is not.
  const ending = live.isEndUncertain ? undefined : live.ending;
  if (ending !== undefined) live.unsaved = failure;
  endRun(held, live, ending ?? letGoOutcome(held, live, failure));
}

function noReader(name: string): RerailError {
  const message = `"${name}" is a flow or a plan: it has no model to read a message`;
  const hint =
    'Put the message into the run of a node, by the agent that does its work; `nodes` of the outcome name the runs.';
  return RerailError.from(createFailure('INVALID_STATE', { origin: 'agent', message, hint }));
}

/** What has a record is released, so that another process resumes it; what has none ends. */
async function closeRuns(held: HeldRuns): Promise<void> {
  const { keeper, engine, runs } = held;
  if (keeper !== undefined) {
    const carried = [...runs].filter(([, { ended }]) => ended === undefined).map(([runId]) => runId);
    await Promise.allSettled(carried.map((runId) => release(held, runId)));
  }
  await engine.close();
}

/** Releases a run without ending it: it continues where a process resumes it. */
async function release(held: HeldRuns, runId: string): Promise<void> {
  const { engine, keeper, runs } = held;
  if (keeper === undefined || !runs.has(runId)) throw notCarried(runId);
  const outcome = runs.get(runId)?.outcome;
  engine.letGo(runId);
  await keeper.release(runId);
  // Meanwhile it may have been resumed here: then another outcome is waited for.
  if (runs.get(runId)?.outcome === outcome) letGo(held, runId, undefined);
}

function notCarried(runId: string): RerailError {
  const message = `This agent is not running "${runId}" in this process, or it has no store: there is nothing to release`;
  return RerailError.from(createFailure('INVALID_STATE', { origin: 'agent', message }));
}

async function inject(
  held: HeldRuns,
  runId: string,
  message: string | readonly UserPart[] | Message,
): Promise<void> {
  const { engine, runs, parts, keeper } = held;
  const live = runs.get(runId);
  const row = live === undefined ? await keeper?.store.runs.find(runId) : undefined;
  if (live === undefined && row === undefined) throw unknownRun(held, runId);
  if (parts.conductor !== undefined) throw noReader(parts.name);
  const whole = readMessage(parts, message);
  const status = live === undefined ? row?.status : live.ended?.type;
  if (status !== undefined && !goesOn.has(status))
    throw RerailError.from(
      createFailure('INVALID_STATE', {
        origin: 'agent',
        message: `The run "${runId}" has ended (${status}): it would never read the message`,
      }),
    );
  const signal = { id: parts.newId(), payload: whole as unknown as Json }; // A message is JSON.
  if (live === undefined && keeper !== undefined)
    await sendSignal(keeper, runId, { ...signal, name: 'message' });
  else await engine.signal(runId, 'message', signal);
}

const goesOn: ReadonlySet<string> = new Set(['running', 'suspended', 'parked']);
