import type { RunOutcome } from '../../agent/run-outcome.ts';
import { createAborter, onAbort } from '../../base/abort.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { lazyPromise } from '../../base/lazy.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Message } from '../../model/message.ts';
import { createAgentEffects } from '../agent-effects.ts';
import type { AgentSeams } from '../agent-options.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { AgentRuns, ResolveParts } from '../run/agent-runs.ts';
import { tellBackground } from '../tool-call/background.ts';
import type { CreateEngine, Effect, Engine } from '../record/durable.ts';
import { sendAnswer } from './hosted-answer.ts';
import type { Announced } from './hosted-answer.ts';
import { callHosted } from './hosted-callers.ts';
import type { CallerOptions, HostedCaller } from './hosted-callers.ts';
import { awaitOutcome, seqOf } from './hosted-outcome.ts';
import { hostedFactsOf } from '../run/agent-facts.ts';
import { createHostedProgram } from './hosted-program.ts';
import { hostedEnd } from './hosted-result.ts';
import type { HostedResult } from './hosted-result.ts';
import { driverVersion } from '../run/held-runs.ts';
import type { Begun } from '../run/held-runs.ts';
import type { RunSnapshot } from '../record/journal.ts';
import { leftError } from '../run/leave-run.ts';
import { publish } from '../run/live-run.ts';
import type { LiveRun } from '../run/live-run.ts';
import type { MovedRun } from './moved-run.ts';
import { checkRunOptions, readInput, readMessage } from '../run/run-input.ts';
import type { ResumeOptions, RunInput, RunOptions, TakeOverOptions } from '../run/run-input.ts';
import { partsOfRun } from '../run/run-parts.ts';
import type { ExtendableAgent } from '../run/run-parts.ts';
import { answerIn } from '../run/take-answer.ts';
import { createEventQueue, streamOf } from '../watch/run-stream.ts';
import { checkRecord, refused } from './take-over.ts';

/** The runs of an agent that an outside engine executes: here, or in another process that has made the same agent. */
export interface HostedRuns extends ExtendableAgent {
  readonly engine: () => Promise<Engine>;
  /** Cancellation was requested. */
  isOpen: boolean;
  /** Those that this process runs or waits for. */
  readonly runs: Map<string, LiveRun>;
  /** Those that it executes: the engine has handed them to this process. */
  readonly carried: Set<string>;
  /** How many callers of this process wait for each. */
  readonly callers: Map<string, number>;
}

/** Holds the runs of an agent with an engine. The engine is made when it is first needed, or by `serve`. */
export function createHostedRuns(resolve: ResolveParts, createEngine: CreateEngine): AgentRuns {
  const runs = new Map<string, LiveRun>();
  const seams: AgentSeams = {
    onHookFailed: ({ hook, point, failure, runId }) => {
      const live = runs.get(runId);
      if (live !== undefined) publish(live, { type: 'hook-failed', hook, point, failure });
    },
    canRead: () => false,
  };
  const parts = resolve(seams);
  const held: HostedRuns = {
    parts,
    resolveWith: (extras) => resolve(seams, extras),
    runs,
    carried: new Set(),
    callers: new Map(),
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

/** Each effect waits until the agent is set up. What failed is on record, and the process that continues the run has it tried again. */
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
      return streamOf(queue, begin(held, input, { options, watcher: queue.watcher }));
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
      throw misuse(`An engine runs "${runId}": there is nothing to release here`);
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

function begin(held: HostedRuns, input: RunInput, { options, watcher }: CallerOptions): Begun {
  checkHosted(options, 'run');
  const { parts } = held;
  if (options.sessionId !== undefined)
    throw misuse(
      'A session needs a store: an agent with an engine has none. Pass the conversation as messages',
    );
  const runId = options.runId ?? parts.newId();
  const caller = callHosted(held, runId, { options, ...(watcher === undefined ? {} : { watcher }) });
  const start = readInput(parts, input);
  const isCancelled = options.signal?.aborted === true ? { isCancelled: true as const } : {};
  const { config } = partsOfRun(held, options) ?? parts;
  const whole = { ...start, config, ...isCancelled };
  const starting = held.engine().then(async (engine) => {
    // A name is a run: of one that the engine knows nothing is begun, and it is waited for, or its outcome is given.
    const started = await engine.start(whole as unknown as Json, { runId, version: driverVersion }); // Messages are JSON.
    return { engine, isOurs: started === 'begun' };
  });
  const { messages } = start;
  const outcome = follow(held, caller, { starting, options, afterSeq: -1, messages });
  return { runId, outcome, leave: () => void leave(held, caller, starting) };
}

/** The engine chooses the process that executes the run, which and has only what the agent itself was made with. */
function checkHosted(options: RunOptions, kind: Parameters<typeof checkRunOptions>[1]): void {
  checkRunOptions(options, kind);
  if (options.tools === undefined || options.tools.length === 0) return;
  throw misuse(
    'An agent with an engine takes no "tools" for a run, for the engine may run it in another process: give them to createAgent()',
  );
}

/** To break off the stream that began a run is to cancel it, unless another caller of this process waits for it meanwhile. */
async function leave(held: HostedRuns, caller: HostedCaller, starting: Starting): Promise<void> {
  caller.stop();
  // What could not be started is reported by the outcome.
  const { isOurs } = await starting.catch(() => ({ isOurs: false }));
  if (isOurs && !held.callers.has(caller.live.runId))
    await cancel(held, caller.live.runId, 'no reader of its events is left').catch(() => undefined);
}

/** An engine that has taken what it was given, and whether this caller set the run going: then its signal is the run's. */
type Starting = Promise<{ readonly engine: Engine; readonly isOurs: boolean }>;

interface Following {
  readonly starting: Starting;
  readonly options: ResumeOptions;
  /** What was announced up to here is known already. */
  readonly afterSeq: number;
  /** What was asked, where this begins it. */
  readonly messages?: readonly Message[];
}

/** Waits for the next outcome, wherever the run is carried. Rejects only where a caller leaves that did not set the run going. */
async function follow(held: HostedRuns, caller: HostedCaller, following: Following): Promise<RunOutcome> {
  const { live } = caller;
  const { starting, options, afterSeq, messages = [] } = following;
  const { runId } = live;
  const left = createAborter();
  const obey = async (): Promise<void> => {
    // Of what could not be begun there is nothing to end.
    const { isOurs } = await starting.catch(() => ({ isOurs: true }));
    if (!isOurs) return left.abort();
    return cancel(held, runId, 'the signal of the caller').catch(() => undefined);
  };
  const stopListening = onAbort(options.signal, () => void obey());
  const outcome = await starting
    .then(({ engine }) => awaitOutcome(held, live, { engine, afterSeq, signal: left.signal() }))
    .catch((error: unknown) => hostedEnd(held, live, { error, messages }));
  stopListening();
  if (outcome !== 'left') caller.tellEnd(outcome);
  caller.stop();
  if (outcome === 'left') throw leftError(runId, options.signal?.reason);
  return outcome;
}

async function resume(held: HostedRuns, runId: string, options: ResumeOptions): Promise<RunOutcome> {
  checkHosted(options, 'resume');
  const { parts } = held;
  const engine = await held.engine();
  const status = await engine.status(runId);
  if (status.type === 'unknown') throw unknown(runId);
  const announced =
    'announced' in status ? (status.announced as unknown as Announced | undefined) : undefined; // What the program says.
  const asked = announced?.outcome;
  const request = asked?.type === 'suspended' ? asked.request : undefined;
  const answer = await answerIn(parts, options, { runId, request });
  const payload = { answer, wallMs: parts.clock.wallMs(), config: parts.config };
  if (status.type === 'ended') {
    const { outcome, state } = status.result as unknown as HostedResult; // What the program returns.
    const provenance = state?.provenance;
    if (state === undefined) return outcome;
    const caller = callHosted(held, runId, { options });
    const input = { type: 'resume', state, ...payload, ...(provenance === undefined ? {} : { provenance }) };
    const after = status.generation;
    const starting = engine
      .start(input as unknown as Json, { runId, version: driverVersion, after }) // The state is JSON.
      .then((started) => ({ engine, isOurs: started === 'begun' }));
    return follow(held, caller, { starting, options, afterSeq: -1 });
  }
  const caller = callHosted(held, runId, { options });
  const isOurs = announced !== undefined; // One that is under way is only joined.
  const starting = sendAnswer(engine, { runId, payload, announced }).then(() => ({ engine, isOurs }));
  return follow(held, caller, { starting, options, afterSeq: seqOf(announced) });
}

/** Continues a run of another backend: its record is a part of what it begins with here. */
async function takeOver(held: HostedRuns, given: RunSnapshot, options: TakeOverOptions): Promise<RunOutcome> {
  checkHosted(options, 'takeOver');
  const record = checkRecord(held.parts, given, options);
  const { runId, version, signals } = record;
  if (isRecord(record.input) && record.input['session'] !== undefined)
    throw refused(record, 'it belongs to a session, and an agent with an engine has none', bySession);
  const moved: MovedRun = { type: 'moved', record, movedAtMs: held.parts.clock.wallMs() };
  const caller = callHosted(held, runId, { options });
  const starting = held.engine().then(async (engine) => {
    const started = await engine.start(moved as unknown as Json, { runId, version }); // A record is JSON.
    const isOver = started === 'known' && (await engine.status(runId)).type === 'ended';
    for (const { name, id, payload } of isOver ? [] : signals)
      await engine.signal(runId, name, { id, payload });
    return { engine, isOurs: started === 'begun' };
  });
  return follow(held, caller, { starting, options, afterSeq: -1 });
}

const bySession = 'Let it end where it is, and start a new run here with its messages.';

async function journalOf(engine: Engine, runId: string): Promise<RunSnapshot | undefined> {
  if (engine.journal !== undefined) return engine.journal(runId);
  throw misuse(`The engine cannot say what is on record of the run "${runId}"`);
}

async function cancel(held: HostedRuns, runId: string, reason: string): Promise<void> {
  const engine = await held.engine();
  const live = held.runs.get(runId);
  // A copy that ended by itself would have left the run that it comes after.
  if (live?.isCopy === false) live.isCancelled = true;
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
