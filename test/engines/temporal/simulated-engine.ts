import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../src/base/system.ts';
import type { Json } from '../../../src/base/json.ts';
import { createEffectHost } from '../../../src/engines/temporal/effect-host.ts';
import type { EffectHost } from '../../../src/engines/temporal/effect-host.ts';
import type { Begin, CarryLimits } from '../../../src/engines/temporal/messages.ts';
import { readJournal, snapshotOf } from '../../../src/engines/temporal/read-journal.ts';
import type {
  DurableProgram,
  Effect,
  Engine,
  RunStatus,
  SignalMessage,
  Started,
  StartOptions,
} from '../../../src/runtime/record/durable.ts';
import { openWorkflow } from './simulated-temporal.ts';
import type { Command, Execution, Job, SimulatedWorkflow } from './simulated-temporal.ts';

// A server in memory for simulated workflows, with one worker at a time. It keeps what Temporal keeps: executions and their records.

const simulatedLimits: CarryLimits = {
  effectTimeoutMs: 60_000,
  heartbeatTimeoutMs: 1000,
  takeoverMs: 20,
  cancelGraceMs: 200,
  maxLives: 5,
  maxSignals: 1000,
  maxHistoryEvents: 50_000,
  maxHistoryBytes: 40_000_000,
  maxValueBytes: 1_900_000,
};

export interface SimulatedRun {
  /** The latest generation last. */
  readonly executions: Execution[];
  workflow: SimulatedWorkflow | undefined;
  readonly queue: Job[];
  isBusy: boolean;
  status: RunStatus;
}

/** What outlives every worker. */
export interface Server {
  readonly runs: Map<string, SimulatedRun>;
}

export interface SimulatedSetup {
  /** What the workflow runs; in Temporal it is fixed in the bundle. */
  readonly program: DurableProgram;
  /** What the worker's copy runs, where that is another form of it. */
  readonly workerProgram?: DurableProgram;
  readonly effects: Readonly<Record<string, Effect>>;
  readonly facts?: Json;
  readonly server: Server;
  readonly limits?: Partial<CarryLimits>;
  /** How many runs the worker keeps copies of. */
  readonly maxRuns?: number;
}

export interface SimulatedEngine extends Engine {
  /** The worker dies without a word. */
  readonly crash: () => void;
}

interface Held extends SimulatedSetup {
  readonly host: EffectHost;
  readonly queueName: string;
  readonly underWay: Map<string, AbortController>;
  readonly timers: Map<string, NodeJS.Timeout>;
  isDead: boolean;
}

/** Opens a worker over what the server has: its runs go on. */
export async function openSimulated(setup: SimulatedSetup): Promise<SimulatedEngine> {
  const queueName = randomUUID();
  const { program, workerProgram = program, effects, maxRuns = 100 } = setup;
  const host = createEffectHost({
    setup: { program: workerProgram, effects, clock: systemClock },
    queue: queueName,
    newId: randomUUID,
    maxRuns,
    maxValueBytes: 1_900_000,
    closeGraceMs: 200,
    recall: async ({ runId }) => {
      const workflow = setup.server.runs.get(runId)?.workflow;
      return workflow === undefined ? undefined : readJournal(async (from) => workflow.journal(from));
    },
  });
  const held: Held = { ...setup, host, queueName, underWay: new Map(), timers: new Map(), isDead: false };
  for (const [runId, run] of setup.server.runs) if (!isEnded(run)) await takeUp(held, runId, run);
  const crash = (): void => {
    held.isDead = true;
    for (const timer of held.timers.values()) clearTimeout(timer);
  };
  return {
    crash,
    start: async (input, wanted) => start(held, { ...wanted, input }),
    signal: async (runId, name, message) => sendSignal(held, runId, { name, message }),
    cancel: async (runId, reason) =>
      push(held, runId, { type: 'signal', name: 'rerailCancel', value: reason }),
    status: async (runId) => statusOf(held, runId),
    journal: async (runId) => {
      const run = setup.server.runs.get(runId);
      const { workflow } = run ?? {};
      if (run === undefined || workflow === undefined) return undefined;
      const end = run.status.type === 'ended' || run.status.type === 'broken' ? run.status : undefined;
      return snapshotOf(runId, await readJournal(async (from) => workflow.journal(from)), end);
    },
    close: async () => {
      crash();
      host.close();
    },
  };
}

function isEnded({ status }: SimulatedRun): boolean {
  return status.type === 'ended' || status.type === 'broken';
}

function statusOf({ server }: Held, runId: string): RunStatus {
  const run = server.runs.get(runId);
  if (run === undefined) return { type: 'unknown' };
  if (isEnded(run)) return run.status;
  const { waiting, announced } = run.workflow?.status() ?? {};
  const about = announced === undefined ? {} : { announced };
  return waiting === undefined
    ? { type: 'running', ...about }
    : { type: 'waiting', signal: waiting, ...about };
}

interface Starting extends StartOptions {
  readonly input: Json;
}

async function start(held: Held, { runId, version, input, after = 0 }: Starting): Promise<Started> {
  const { server, facts = null, limits } = held;
  const known = server.runs.get(runId);
  const latest = known?.executions.at(-1)?.begin.generation ?? 0;
  if (known !== undefined && (!isEnded(known) || latest > after)) return 'known';
  const begin: Begin = {
    runId,
    version,
    generation: after + 1,
    input: JSON.parse(JSON.stringify(input)) as Json,
    facts,
    limits: { ...simulatedLimits, ...limits },
    signals: [],
    signalIds: [],
  };
  const run: SimulatedRun = {
    executions: known?.executions ?? [],
    workflow: undefined,
    queue: [],
    isBusy: false,
    status: { type: 'running' },
  };
  server.runs.set(runId, run);
  await beginExecution(held, run, begin);
  return 'begun';
}

async function beginExecution(held: Held, run: SimulatedRun, begin: Begin): Promise<void> {
  const execution: Execution = { begin, activations: [] };
  run.executions.push(execution);
  run.workflow = await openWorkflow({
    execution,
    program: held.program,
    tell: (news) => held.host.hear(news),
  });
  push(held, begin.runId, { type: 'start' });
}

async function takeUp(held: Held, runId: string, run: SimulatedRun): Promise<void> {
  const execution = run.executions.at(-1);
  if (execution === undefined) return;
  run.isBusy = false;
  run.workflow = await openWorkflow({
    execution,
    program: held.program,
    tell: (news) => held.host.hear(news),
  });
  const settled = new Set(
    execution.activations.flatMap(({ jobs, commands }) =>
      [...jobs, ...commands.filter(({ type }) => type === 'cancel-timer')].flatMap((job) =>
        'seq' in job ? [job.seq] : [],
      ),
    ),
  );
  for (const command of execution.activations.flatMap(({ commands }) => commands)) {
    if (!('seq' in command) || settled.has(command.seq)) continue;
    if (command.type === 'timer') arm(held, runId, { ...command, delayMs: command.dueAtMs - Date.now() });
    // Its worker was not heard of again.
    if (command.type === 'activity')
      push(held, runId, { type: 'activity', seq: command.seq, ending: { type: 'lost', why: 'HEARTBEAT' } });
  }
  void work(held, runId, run);
}

/** While no worker is there, signals are kept by the server. */
export function sendWhileDown(
  server: Server,
  runId: string,
  signal: { name: string; message: SignalMessage },
): void {
  const { name, message } = signal;
  server.runs.get(runId)?.queue.push({ type: 'signal', name: 'rerailSignal', value: { name, ...message } });
}

function sendSignal(held: Held, runId: string, signal: { name: string; message: SignalMessage }): void {
  sendWhileDown(held.server, runId, signal);
  const run = held.server.runs.get(runId);
  if (run !== undefined) void work(held, runId, run);
}

function push(held: Held, runId: string, job: Job): void {
  const run = held.server.runs.get(runId);
  if (run === undefined || isEnded(run)) return;
  run.queue.push(job);
  void work(held, runId, run);
}

async function work(held: Held, runId: string, run: SimulatedRun): Promise<void> {
  if (run.isBusy || held.isDead || run.workflow === undefined) return;
  run.isBusy = true;
  while (run.queue.length > 0 && !held.isDead && !isEnded(run)) {
    const jobs = run.queue.slice(0, 1);
    const commands = await run.workflow.activate(jobs);
    // What a worker has not reported is not on record: another one is handed the same.
    if (held.isDead) return;
    run.queue.shift();
    run.executions.at(-1)?.activations.push({ jobs, commands });
    for (const command of commands) await obey(held, runId, { run, command });
  }
  run.isBusy = false;
}

async function obey(
  held: Held,
  runId: string,
  { run, command }: { readonly run: SimulatedRun; readonly command: Command },
): Promise<void> {
  switch (command.type) {
    case 'activity':
      return void perform(held, runId, command);
    case 'cancel-activity':
      return held.underWay.get(`${runId}:${command.seq}`)?.abort();
    case 'timer':
      return arm(held, runId, command);
    case 'cancel-timer':
      return clearTimeout(held.timers.get(`${runId}:${command.seq}`));
    case 'continue':
      return beginExecution(held, run, command.begin);
    case 'complete':
      run.status = {
        type: 'ended',
        result: command.result.result,
        generation: command.result.generation,
      };
      return;
    default:
      run.status = { type: 'broken', failure: command.details.failure };
  }
}

function arm(
  held: Held,
  runId: string,
  { seq, delayMs }: { readonly seq: number; readonly delayMs: number },
): void {
  held.timers.set(
    `${runId}:${seq}`,
    setTimeout(
      () => (held.isDead ? undefined : push(held, runId, { type: 'timer', seq })),
      Math.max(0, delayMs),
    ),
  );
}

async function perform(
  held: Held,
  runId: string,
  { seq, request, scheduling }: Extract<Command, { type: 'activity' }>,
): Promise<void> {
  const { host, queueName } = held;
  if (scheduling.queue !== undefined && scheduling.queue !== queueName) {
    setTimeout(
      () => push(held, runId, { type: 'activity', seq, ending: { type: 'unstarted' } }),
      scheduling.startWithinMs,
    );
    return;
  }
  const controller = new AbortController();
  held.underWay.set(`${runId}:${seq}`, controller);
  const reply = await host.perform(request, { signal: controller.signal });
  held.underWay.delete(`${runId}:${seq}`);
  if (!held.isDead) push(held, runId, { type: 'activity', seq, ending: { type: 'replied', reply } });
}
