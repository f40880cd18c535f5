import type { RunOutcome } from '../agent/run-outcome.ts';
import { onAbort } from '../base/abort.ts';
import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import { lazyPromise } from '../base/lazy.ts';
import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import type { Message } from '../model/message.ts';
import { createAgentEffects } from './agent-effects.ts';
import type { AgentSeams } from './agent-options.ts';
import type { AgentParts } from './agent-parts.ts';
import type { AgentRuns } from './agent-runs.ts';
import { tellBackground } from './background.ts';
import type { CreateEngine, Effect, Engine } from './durable.ts';
import { sendAnswer } from './hosted-answer.ts';
import type { Announced } from './hosted-answer.ts';
import { awaitOutcome, seqOf } from './hosted-outcome.ts';
import { hostedFactsOf } from './agent-facts.ts';
import { createHostedProgram } from './hosted-program.ts';
import { hostedEnd } from './hosted-result.ts';
import type { HostedResult } from './hosted-result.ts';
import { driverVersion } from './held-runs.ts';
import type { RunSnapshot } from './journal.ts';
import { createLiveRun, publish } from './live-run.ts';
import type { LiveRun, Watcher } from './live-run.ts';
import type { MovedRun } from './moved-run.ts';
import { checkRunOptions, readAnswer, readInput, readMessage } from './run-input.ts';
import type { ResumeOptions, RunInput, RunOptions, TakeOverOptions } from './run-input.ts';
import { createEventQueue } from './run-stream.ts';
import { checkRecord, refused } from './take-over.ts';
import { createListener } from './run-watchers.ts';

/** The runs of an agent that an engine outside carries: here, or in another process that has made the same agent. */
export interface HostedRuns {
  readonly parts: AgentParts;
  readonly engine: () => Promise<Engine>;
  /** Somebody has asked for it. */
  isOpen: boolean;
  /** Those that this process carries or waits for. */
  readonly runs: Map<string, LiveRun>;
  /** Those that it carries: the engine has handed them to this process. */
  readonly carried: Set<string>;
}

/** Holds the runs of an agent with an engine. The engine is made when it is first needed, or by `serve`. */
export function createHostedRuns(
  resolve: (seams: AgentSeams) => AgentParts,
  createEngine: CreateEngine,
): AgentRuns {
  const runs = new Map<string, LiveRun>();
  const parts = resolve({
    onHookFailed: ({ hook, point, failure, runId }) => {
      const live = runs.get(runId);
      if (live !== undefined) publish(live, { type: 'hook-failed', hook, point, failure });
    },
    canRead: () => false,
  });
  const held: HostedRuns = {
    parts,
    runs,
    carried: new Set(),
    isOpen: false,
    engine: lazyPromise(async () => {
      held.isOpen = true;
      return createEngine({
        name: parts.name,
        version: driverVersion,
        clock: parts.clock,
        program: createHostedProgram(held),
        effects: gated(effects, parts),
        facts: () => hostedFactsOf(parts),
      });
    }),
  };
  const effects = createAgentEffects(parts, {
    liveOf: (runId) => runs.get(runId),
    onBackground: (live, report) => void held.engine().then((engine) => tellBackground(engine, live, report)),
  });
  return facesOf(held);
}

/** Each effect waits until the agent is set up. What failed is on record, and whoever goes on with the run has it tried again. */
function gated(effects: Effects, { setup, clock }: AgentParts): Effects {
  if (setup === undefined) return effects;
  const waiting = Object.entries(effects).map(([name, effect]): readonly [string, Effect] => [
    name,
    async (input, context) => {
      const failure = setup.isReady() ? undefined : await setup.prepare({ signal: context.signal, clock });
      return failure === undefined ? effect(input, context) : { type: 'failed', failure };
    },
  ]);
  return Object.fromEntries(waiting);
}

type Effects = Readonly<Record<string, Effect>>;

function facesOf(held: HostedRuns): AgentRuns {
  const { parts, engine } = held;
  return {
    name: parts.name,
    parts,
    knows: async (runId) => (await (await engine()).status(runId)).type !== 'unknown',
    run: (input, options = {}) => begin(held, input, { options }).outcome,
    stream: (input, options = {}) => {
      const queue = createEventQueue();
      const { runId, outcome } = begin(held, input, { options, watcher: queue.watcher });
      const abandon = (): void => void cancel(held, runId, 'nobody reads its events any more');
      return { runId, outcome, [Symbol.asyncIterator]: () => queue.iterate(abandon) };
    },
    resume: (runId, options = {}) => resume(held, runId, options),
    cancel: (runId, reason = 'cancelled by the caller') => cancel(held, runId, reason),
    inject: async (runId, message) => {
      const whole = readMessage(parts, message);
      await (
        await engine()
      ).signal(runId, 'message', { id: parts.newId(), payload: whole as unknown as Json }); // A message is JSON.
    },
    release: async (runId) => {
      throw misuse(`The run "${runId}" is carried by an engine: there is nothing to let go here`);
    },
    journal: async (runId) => journalOf(await engine(), runId),
    takeOver: (record, options = {}) => takeOver(held, record, options),
    forget: () => undefined,
    isHosted: true,
    serve: async () => void (await engine()),
    close: async () => {
      if (!held.isOpen) return;
      // One that could not be made has nothing to close.
      const made = await engine().catch(() => undefined);
      await made?.close();
    },
  };
}

interface Begun {
  readonly runId: string;
  readonly outcome: Promise<RunOutcome>;
}

interface Wishes {
  readonly options: RunOptions;
  readonly watcher?: Watcher;
}

function begin(held: HostedRuns, input: RunInput, { options, watcher }: Wishes): Begun {
  checkRunOptions(options, 'run');
  const { parts } = held;
  if (options.sessionId !== undefined)
    throw misuse(
      'A session needs a store: an agent with an engine has none. Hand the conversation in as messages',
    );
  const runId = options.runId ?? parts.newId();
  const listening = listen(held, runId, { options, ...(watcher === undefined ? {} : { watcher }) });
  const start = readInput(parts, input);
  const isCancelled = options.signal?.aborted === true ? { isCancelled: true as const } : {};
  const whole = { ...start, config: parts.config, ...isCancelled };
  const starting = held.engine().then(async (engine) => {
    await engine.start(whole as unknown as Json, { runId, version: driverVersion }); // Messages are JSON.
    return engine;
  });
  const { messages } = start;
  return { runId, outcome: follow(held, listening, { starting, options, afterSeq: -1, messages }) };
}

/** Somebody who waits for a run, and hears of it as far as this process carries it. */
interface Listening {
  readonly live: LiveRun;
  readonly watchers: readonly Watcher[];
  /** The end is told by the run itself where it is carried here. */
  readonly hasHeardEnd: () => boolean;
}

function listen(held: HostedRuns, runId: string, { options, watcher }: Wishes): Listening {
  const { parts, runs } = held;
  const live = runs.get(runId) ?? createLiveRun(runId, parts.config.limits.maxConcurrentTools);
  runs.set(runId, live);
  let heardEnd = false;
  const given = [
    ...(watcher === undefined ? [] : [watcher]),
    ...(options.onEvent === undefined ? [] : [createListener(live, options.onEvent)]),
  ];
  const watchers = given.map(({ hear, wantsDeltas }): Watcher => ({
    wantsDeltas,
    hear: (event) => {
      if (event.type === 'run-finished') heardEnd = true;
      hear(event);
    },
  }));
  for (const each of watchers) live.watchers.add(each);
  return { live, watchers, hasHeardEnd: () => heardEnd };
}

interface Following {
  readonly starting: Promise<Engine>;
  readonly options: ResumeOptions;
  /** What was announced up to here is known already. */
  readonly afterSeq: number;
  /** What was asked, where this begins it. */
  readonly messages?: readonly Message[];
}

/** Waits for the next outcome, wherever the run is carried. */
async function follow(held: HostedRuns, listening: Listening, following: Following): Promise<RunOutcome> {
  const { live, watchers, hasHeardEnd } = listening;
  const { starting, options, afterSeq, messages = [] } = following;
  const { runId } = live;
  const { signal } = options;
  const obey = (): void => void cancel(held, runId, 'the signal of the caller').catch(() => undefined);
  const stopListening = signal === undefined ? undefined : onAbort(signal, obey);
  const outcome = await starting
    .then((engine) => awaitOutcome(held, live, { engine, afterSeq }))
    .catch((error: unknown) => hostedEnd(held, live, { error, messages }));
  stopListening?.();
  if (!hasHeardEnd()) for (const { hear } of watchers) hear({ type: 'run-finished', outcome });
  for (const each of watchers) live.watchers.delete(each);
  if (!held.carried.has(runId) && live.watchers.size === 0) held.runs.delete(runId);
  return outcome;
}

async function resume(held: HostedRuns, runId: string, options: ResumeOptions): Promise<RunOutcome> {
  checkRunOptions(options, 'resume');
  const { parts } = held;
  const engine = await held.engine();
  const status = await engine.status(runId);
  if (status.type === 'unknown') throw unknown(runId);
  const payload = { answer: readAnswer(options), wallMs: parts.clock.wallMs(), config: parts.config };
  if (status.type === 'ended') {
    const { outcome, state } = status.result as unknown as HostedResult; // What the program returns.
    const provenance = state?.provenance;
    if (state === undefined) return outcome;
    const listening = listen(held, runId, { options });
    const input = { type: 'resume', state, ...payload, ...(provenance === undefined ? {} : { provenance }) };
    const starting = engine
      .start(input as unknown as Json, { runId, version: driverVersion }) // The state is JSON.
      .then(() => engine);
    return follow(held, listening, { starting, options, afterSeq: -1 });
  }
  const listening = listen(held, runId, { options });
  const announced =
    'announced' in status ? (status.announced as unknown as Announced | undefined) : undefined; // As above.
  const starting = sendAnswer(engine, { runId, payload, announced }).then(() => engine);
  return follow(held, listening, { starting, options, afterSeq: seqOf(announced) });
}

/** Goes on with a run of another backend: its record is a part of what it begins with here. */
async function takeOver(held: HostedRuns, given: RunSnapshot, options: TakeOverOptions): Promise<RunOutcome> {
  checkRunOptions(options, 'takeOver');
  const record = checkRecord(held.parts, given, options);
  const { runId, version, signals } = record;
  if (isRecord(record.input) && record.input['session'] !== undefined)
    throw refused(record, 'it belongs to a session, and an agent with an engine has none', bySession);
  const moved: MovedRun = { type: 'moved', record, movedAtMs: held.parts.clock.wallMs() };
  const listening = listen(held, runId, { options });
  const starting = held.engine().then(async (engine) => {
    await engine.start(moved as unknown as Json, { runId, version }); // A record is JSON.
    for (const { name, id, payload } of signals) await engine.signal(runId, name, { id, payload });
    return engine;
  });
  return follow(held, listening, { starting, options, afterSeq: -1 });
}

const bySession = 'Let it end where it is, and begin a new run here with its messages.';

async function journalOf(engine: Engine, runId: string): Promise<RunSnapshot | undefined> {
  if (engine.journal !== undefined) return engine.journal(runId);
  throw misuse(`The engine cannot say what is on record of the run "${runId}"`);
}

async function cancel(held: HostedRuns, runId: string, reason: string): Promise<void> {
  const engine = await held.engine();
  const live = held.runs.get(runId);
  if (live !== undefined) live.isCancelled = true;
  await engine.cancel(runId, reason);
}

function unknown(runId: string): RerailError {
  const message = `The engine knows no run "${runId}"`;
  return RerailError.from(
    createFailure('NOT_REGISTERED', { origin: 'registry', message, context: { runId } }),
  );
}

function misuse(message: string): RerailError {
  return RerailError.from(createFailure('INVALID_STATE', { origin: 'agent', message }));
}
