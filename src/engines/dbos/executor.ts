import type { Cancel, Clock } from '../../base/clock.ts';
import { configError } from '../../errors/config-error.ts';
import type { AgentHost } from './carried-run.ts';
import { outside } from './carried-run.ts';
import { carryRun } from './carry-run.ts';
import { collectSoon } from './collect-letters.ts';
import { checkFree, launchDbos, shutDown, workflowName } from './launch.ts';
import type { Launched } from './launch.ts';
import type { Order } from './order.ts';
import type { ResolvedOptions } from './options.ts';
import type { Dbos, Workflow } from './sdk.ts';

/** DBOS as this process runs it: one, whatever number of agents use it. */
export interface Executor extends Launched {
  readonly workflow: Workflow;
  readonly hosts: Map<string, AgentHost>;
  /** Workflows that an agent carried when it was closed, by its name: DBOS believes that they are still carried here. */
  readonly left: Map<string, readonly string[]>;
}

/** One per process, as DBOS is. */
const here: {
  launching: Promise<Executor> | undefined;
  executor: Executor | undefined;
  /** Agents whose runs have come up before they were made. */
  readonly awaited: Map<string, (() => void)[]>;
  /** By the SDK that it is registered with. */
  readonly workflows: WeakMap<Dbos, Workflow>;
  stopPolling: Cancel;
  closing: Promise<void>;
} = {
  launching: undefined,
  executor: undefined,
  awaited: new Map(),
  workflows: new WeakMap(),
  stopPolling: () => undefined,
  closing: Promise.resolve(),
};

/** Gives the executor of this process; launches DBOS where it is not. */
export async function joinExecutor(options: ResolvedOptions, clock: Clock): Promise<Executor> {
  // What went wrong there was reported to the caller of close.
  await here.closing.catch(() => undefined);
  here.launching ??= launch(options, clock);
  const launching = here.launching;
  try {
    const executor = await launching;
    checkSame(executor.options, options);
    return executor;
  } catch (error) {
    if (here.launching === launching && here.executor === undefined) here.launching = undefined;
    throw error;
  }
}

/** An agent's runs are executed from here on: those that came up before continue. */
export function enterAgent({ hosts, left, dbos }: Executor, host: AgentHost): void {
  const { name } = host.setup;
  if (hosts.has(name))
    throw configError(
      `Two agents of this process are named "${name}" and use the engine "dbos"; a name must be unique`,
    );
  hosts.set(name, host);
  const waiting = here.awaited.get(name) ?? [];
  here.awaited.delete(name);
  for (const goOn of waiting) goOn();
  const workflowIds = left.get(name) ?? [];
  left.delete(name);
  if (workflowIds.length === 0) return;
  // DBOS waits for its database by itself; where it cannot at all, the next process resumes them.
  void outside(() => dbos.resumeWorkflows(workflowIds)).catch(() => undefined);
}

/** An agent executes no more runs: these are left. The last one ends DBOS. */
export function leaveAgent(
  executor: Executor,
  host: AgentHost,
  workflowIds: readonly string[],
): Promise<void> {
  executor.hosts.delete(host.setup.name);
  executor.left.set(host.setup.name, workflowIds);
  if (executor.hosts.size > 0 || here.executor !== executor) return here.closing;
  here.stopPolling();
  here.executor = undefined;
  here.launching = undefined;
  here.closing = shutDown(executor);
  return here.closing;
}

async function launch(options: ResolvedOptions, clock: Clock): Promise<Executor> {
  checkFree(options);
  const workflow = register(options.dbos);
  const executor: Executor = {
    ...(await launchDbos(options, clock)),
    workflow,
    hosts: new Map(),
    left: new Map(),
  };
  here.executor = executor;
  here.stopPolling = poll(executor, clock);
  return executor;
}

/** A run is resumed as often as it takes: DBOS counts them, and would give it up after a hundred deployments. */
const maxRecoveryAttempts = 1_000_000;

function register(dbos: Dbos): Workflow {
  const known = here.workflows.get(dbos);
  if (known !== undefined) return known;
  const work: Workflow = async (text) => {
    const order = JSON.parse(text) as Order; // What `startGeneration` gave.
    const host = here.executor?.hosts.get(order.agent) ?? (await hostOf(order.agent));
    return carryRun(host, order);
  };
  const workflow = dbos.registerWorkflow(work, { name: workflowName, maxRecoveryAttempts });
  here.workflows.set(dbos, workflow);
  return workflow;
}

/** A run may come up before its agent is made: it stands still until then. */
async function hostOf(agent: string): Promise<AgentHost> {
  const host = here.executor?.hosts.get(agent);
  if (host !== undefined) return host;
  await new Promise<void>((resolve) => {
    const waiting = here.awaited.get(agent) ?? [];
    here.awaited.set(agent, [...waiting, resolve]);
  });
  return hostOf(agent);
}

function checkSame(launched: ResolvedOptions, wanted: ResolvedOptions): void {
  const names = ['databaseUrl', 'schema', 'executorId', 'applicationName', 'applicationVersion'] as const;
  const other = names.find((name) => launched[name] !== wanted[name]);
  if (other === undefined) return;
  const sides = other === 'databaseUrl' ? '' : `: "${launched[other]}" and "${wanted[other]}"`;
  throw configError(`A process has one DBOS, but two agents of it differ in "${other}"${sides}`);
}

/** Looks for letters that another process has sent. What this one sends is received at once. */
function poll(executor: Executor, clock: Clock): Cancel {
  let stop: Cancel = () => undefined;
  let isOver = false;
  const next = (): void => {
    stop = clock.after(executor.options.pollIntervalMs, () => void look(executor).finally(again));
  };
  const again = (): void => {
    if (!isOver) next();
  };
  next();
  return () => {
    isOver = true;
    stop();
  };
}

async function look({ hosts, mail }: Executor): Promise<void> {
  const carried = [...hosts.values()].flatMap((host) =>
    [...host.runs.values()].filter(({ isAdopted }) => isAdopted).map((run) => ({ host, run })),
  );
  if (carried.length === 0) return;
  try {
    const counts = await mail.count(carried.map(({ run }) => run.workflowId));
    for (const { host, run } of carried) if (counts.has(run.workflowId)) collectSoon(host, run);
  } catch {
    // Without a database there are no letters; the next look finds them.
  }
}
