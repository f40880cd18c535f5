import { outcomeOf } from '../agent/outcome.ts';
import type { RunOutcome } from '../agent/run-outcome.ts';
import { transition } from '../agent/transition.ts';
import { onAbort } from '../base/abort.ts';
import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import type { Message, UserPart } from '../model/message.ts';
import { createAgentEffects } from './agent-effects.ts';
import type { AgentParts } from './agent-parts.ts';
import { tellBackground } from './background.ts';
import { drive } from './drive.ts';
import type { DriveInput } from './drive.ts';
import type { FailedHook } from './hook-notes.ts';
import { createDeferred, createLiveRun, publish } from './live-run.ts';
import type { LiveRun, Watcher } from './live-run.ts';
import { createMemoryEngine } from './memory-engine.ts';
import type { MemoryEngine } from './memory-engine.ts';
import { checkRunOptions, readAnswer, readInput, readMessage } from './run-input.ts';
import type { ResumeOptions, RunInput, RunOptions } from './run-input.ts';
import { createEventQueue } from './run-stream.ts';
import type { RunStream } from './run-stream.ts';
import { createListener, watchRun } from './run-watchers.ts';

/** The runs of one agent in this process. */
export interface AgentRuns {
  readonly name: string;
  readonly run: (input: RunInput, options?: RunOptions) => Promise<RunOutcome>;
  readonly stream: (input: RunInput, options?: RunOptions) => RunStream;
  readonly resume: (runId: string, options?: ResumeOptions) => Promise<RunOutcome>;
  readonly cancel: (runId: string, reason?: string) => Promise<void>;
  readonly inject: (runId: string, message: string | readonly UserPart[] | Message) => Promise<void>;
}

/** Ended runs that are kept, so that they can be resumed and asked for again. */
const maxEndedRuns = 200;
const maxEndedMessages = 5000;
const version = '1';

interface Held {
  readonly parts: AgentParts;
  readonly engine: MemoryEngine;
  readonly runs: Map<string, LiveRun>;
  /** The one that ended first in front. */
  readonly ended: Set<string>;
  /** Of those, all together. */
  messages: number;
}

/** Makes the agent's parts, with a way to tell of failing hooks, and holds its runs. */
export function createAgentRuns(
  resolve: (onHookFailed: (failed: FailedHook) => void) => AgentParts,
): AgentRuns {
  const runs = new Map<string, LiveRun>();
  const parts = resolve((failed) => tellHookFailed(runs, failed));
  const effects = createAgentEffects(parts, {
    liveOf: (runId) => runs.get(runId),
    onBackground: (live, report) => tellBackground(held.engine, live, report),
  });
  const engine = createMemoryEngine({
    effects,
    clock: parts.clock,
    version,
    limits: { maxEndedJournals: 0 },
    program: (durable, input) => {
      const live = runs.get(durable.runId) as LiveRun; // It is put there before the engine starts.
      return drive(
        { parts, live, onOutcome: (run, outcome) => end(held, run, outcome) },
        durable,
        input as unknown as DriveInput,
      ); // See `begin`.
    },
    onEnded: (runId, ended) => {
      const live = runs.get(runId);
      // The driver itself broke, or the run was cancelled before it began: nobody waits for ever.
      if (live !== undefined && live.ended === undefined)
        end(
          held,
          live,
          bareFailure(held, live, ended.type === 'broken' ? ended.failure : lostFailure(runId)),
        );
    },
  });
  const held: Held = { parts, engine, runs, ended: new Set(), messages: 0 };
  return {
    name: parts.name,
    run: async (input, options = {}) => begin(held, input, { options }).outcome.promise,
    stream: (input, options = {}) => streamRun(held, input, options),
    resume: (runId, options = {}) => resume(held, runId, options),
    cancel: (runId, reason = 'cancelled by the caller') => cancel(held, runId, reason),
    inject: (runId, message) => inject(held, runId, message),
  };
}

function tellHookFailed(
  runs: ReadonlyMap<string, LiveRun>,
  { hook, point, failure, runId }: FailedHook,
): void {
  const live = runs.get(runId);
  if (live !== undefined) publish(live, { type: 'hook-failed', hook, point, failure });
}

interface Beginning {
  readonly options: RunOptions;
  readonly watcher?: Watcher | undefined;
}

/** Starts a run, or finds the one of that name. */
function begin(held: Held, input: RunInput, { options, watcher }: Beginning): LiveRun {
  checkRunOptions(options, 'run');
  const { parts, engine, runs } = held;
  const runId = options.runId ?? parts.newId();
  const known = runs.get(runId);
  if (known !== undefined) {
    join(held, known, { options, watcher });
    return known;
  }
  const live = createLiveRun(runId, parts.config.limits.maxConcurrentTools);
  runs.set(runId, live);
  watchRun(parts, live, options.onEvent);
  if (watcher !== undefined) live.watchers.add(watcher);
  // The engine begins at once, and can cancel only what has begun: a wish from before must be known to the driver itself.
  live.isCancelled = options.signal?.aborted === true;
  void engine
    .start(readInput(parts, input) as unknown as Json, { runId, version })
    .catch((error: unknown) => {
      // The engine takes no more runs: that is an outcome too.
      const failure = RerailError.isInstance(error)
        ? error.failure
        : createFailure('INTERNAL', { origin: 'agent', message: String(error) });
      end(held, live, bareFailure(held, live, failure));
    });
  if (!live.isCancelled) obey(held, live, options.signal);
  return live;
}

/** Whoever joins a run hears what is still to come of it, and may stop it; of one that has ended he hears the end. */
function join(held: Held, live: LiveRun, { options: { onEvent, signal }, watcher }: Beginning): void {
  const listener = onEvent === undefined ? undefined : createListener(live, onEvent);
  for (const joined of [watcher, listener]) {
    if (joined === undefined) continue;
    if (live.ended !== undefined) joined.hear({ type: 'run-finished', outcome: live.ended });
    else live.watchers.add(joined);
  }
  if (live.ended === undefined) obey(held, live, signal);
}

/** The caller's wish to stop is the run's. */
function obey(held: Held, live: LiveRun, signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  const stopListening = onAbort(signal, () => void cancel(held, live.runId, 'the signal of the caller'));
  void live.outcome.promise.then(stopListening);
}

function end(held: Held, live: LiveRun, outcome: RunOutcome): void {
  live.ended = outcome;
  live.turn = undefined;
  live.inputs = undefined;
  // Nothing goes on from there; its outcome is all that is kept.
  if (outcome.type === 'completed' || outcome.type === 'stopped') live.state = undefined;
  if (outcome.type !== 'suspended') remember(held, live.runId);
  live.outcome.resolve(outcome);
  // Whoever hears it may resume the run at once, and then it has other watchers.
  const watchers = [...live.watchers];
  for (const { hear } of watchers) hear({ type: 'run-finished', outcome });
}

function remember(held: Held, runId: string): void {
  forget(held, runId);
  held.ended.add(runId);
  held.messages += messagesIn(held, runId);
  for (const oldest of held.ended) {
    if (held.ended.size <= maxEndedRuns && held.messages <= maxEndedMessages) return;
    // The latest one stays, however long it is.
    if (oldest === runId) return;
    forget(held, oldest);
    held.runs.delete(oldest);
  }
}

function forget(held: Held, runId: string): void {
  if (held.ended.delete(runId)) held.messages -= messagesIn(held, runId);
}

function messagesIn({ runs }: Held, runId: string): number {
  return runs.get(runId)?.ended?.messages.length ?? 0;
}

/** A run of which no state is left to say more. */
function bareFailure({ parts }: Held, { runId, state }: LiveRun, failure: Failure): RunOutcome {
  const { config } = parts;
  const begun = transition(undefined, { type: 'run-started', runId, config, messages: [], repairs: [] });
  return outcomeOf(transition(state ?? begun.state, { type: 'broken', failure }).state) as RunOutcome; // It has ended.
}

function lostFailure(runId: string): Failure {
  const message = `The run "${runId}" ended without an outcome`;
  return createFailure('INTERNAL', { origin: 'agent', message });
}

function streamRun(held: Held, input: RunInput, options: RunOptions): RunStream {
  const queue = createEventQueue();
  const live = begin(held, input, { options, watcher: queue.watcher });
  const { runId } = live;
  return {
    runId,
    outcome: live.outcome.promise,
    [Symbol.asyncIterator]: () =>
      queue.iterate(() => void cancel(held, runId, 'nobody reads its events any more')),
  };
}

async function cancel({ engine, runs, parts }: Held, runId: string, reason: string): Promise<void> {
  const live = runs.get(runId);
  if (live === undefined) throw unknownRun(runId);
  if (live.ended !== undefined && live.ended.type !== 'suspended') return;
  live.isCancelled = true;
  if (live.ended?.type === 'suspended') {
    reopen(live);
    watchRun(parts, live);
  }
  await engine.cancel(runId, reason);
  // Whoever awaits it may go on with the run at once.
  await live.outcome.promise;
}

/** The run has more to say: the next outcome is another promise. */
function reopen(live: LiveRun): void {
  live.watchers.clear();
  live.ended = undefined;
  live.outcome = createDeferred();
}

async function resume(held: Held, runId: string, options: ResumeOptions): Promise<RunOutcome> {
  checkRunOptions(options, 'resume');
  const { engine, parts, runs } = held;
  const live = runs.get(runId);
  if (live === undefined) throw unknownRun(runId);
  // There is an outcome a moment before the engine is done with the run, and it takes it up again only after.
  if (live.ended !== undefined && live.ended.type !== 'suspended') await engine.whenEnded(runId);
  const { ended, state } = live;
  // Still under way: whoever resumes it waits for the same end.
  if (ended === undefined || state === undefined) {
    join(held, live, { options });
    return live.outcome.promise;
  }
  if (ended.type === 'completed' || ended.type === 'stopped') return ended;
  const answer = readAnswer(options);
  const wallMs = parts.clock.wallMs();
  live.isCancelled = false;
  forget(held, runId);
  reopen(live);
  watchRun(parts, live, options.onEvent);
  obey(held, live, options.signal);
  if (ended.type === 'suspended') {
    const payload = { answer, wallMs } as unknown as Json; // Read as JSON above.
    await engine.signal(runId, 'resume', { id: parts.newId(), payload });
  } else {
    // The outcome is known a moment before the engine has noted the end.
    await engine.whenEnded(runId);
    const input: DriveInput = { type: 'resume', state, answer, wallMs };
    await engine.start(input as unknown as Json, { runId, version }); // The state is JSON.
  }
  return live.outcome.promise;
}

function unknownRun(runId: string): RerailError {
  const message = `There is no run "${runId}" in this process: it was never started here, or it ended long ago`;
  return RerailError.from(createFailure('NOT_REGISTERED', { origin: 'registry', message }));
}

async function inject(
  { engine, runs, parts }: Held,
  runId: string,
  message: string | readonly UserPart[] | Message,
): Promise<void> {
  const live = runs.get(runId);
  if (live === undefined) throw unknownRun(runId);
  const whole = readMessage(parts, message);
  if (live.ended !== undefined && live.ended.type !== 'suspended')
    throw RerailError.from(
      createFailure('INVALID_STATE', {
        origin: 'agent',
        message: `The run "${runId}" has ended (${live.ended.type}): nobody would read the message`,
      }),
    );
  await engine.signal(runId, 'message', { id: parts.newId(), payload: whole as unknown as Json }); // A message is JSON.
}
