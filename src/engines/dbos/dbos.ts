import { lazy } from '../../base/lazy.ts';
import type { CreateEngine, Engine, EngineSetup } from '../../runtime/record/durable.ts';
import { createMemoryEngine } from '../../runtime/record/memory-engine.ts';
import type { MemoryEngine } from '../../runtime/record/memory-engine.ts';
import { maxSignals } from './carried-run.ts';
import type { AgentHost } from './carried-run.ts';
import { enterAgent, joinExecutor, leaveAgent } from './executor.ts';
import type { Executor } from './executor.ts';
import { createHostVerbs } from './host-verbs.ts';
import { withNotices } from './notice.ts';
import { checkDbosOptions, resolveDbosOptions } from './options.ts';
import type { DbosOptions } from './options.ts';
import { cancelGraceMs, effectsAsSteps } from './perform-step.ts';
import { createStepRecorder } from './record-run.ts';

/**
 * Runs on DBOS: every effect a step in Postgres, so that a run outlives its process.
 *
 * A run belongs to the executor that began it. Where that process dies, one with the same `executorId` continues it; no other
 * one does.
 *
 * @example
 * const agent = createAgent({ name: 'orders', model, engine: dbos({ databaseUrl, executorId: 'worker-1' }) });
 */
export function dbos(options: DbosOptions): CreateEngine {
  checkDbosOptions(options);
  // Agents that share these options share one SDK; it is not looked for before the first of them is made.
  const resolved = lazy(() => resolveDbosOptions(options));
  return async (setup) => openEngine(await joinExecutor(resolved(), setup.clock), setup);
}

function openEngine(executor: Executor, setup: EngineSetup): Engine {
  const { dbos: sdk, mail, workflow, options } = executor;
  const { requestTimeoutMs, maxValueBytes, applicationName: application } = options;
  const host: AgentHost = {
    setup,
    application,
    dbos: sdk,
    mail,
    workflow,
    maxValueBytes,
    watch: { clock: setup.clock, mail, requestTimeoutMs },
    memory: createCarrier(() => host, setup),
    runs: new Map(),
    fresh: new Set(),
    starts: new Map(),
    isClosed: false,
  };
  enterAgent(executor, host);
  return createHostVerbs(host, () => close(executor, host));
}

function createCarrier(host: () => AgentHost, { clock, version, effects }: EngineSetup): MemoryEngine {
  return createMemoryEngine({
    program: withNotices(host),
    effects: effectsAsSteps(host, effects),
    recorder: createStepRecorder(host),
    clock,
    version,
    limits: { maxSignals, cancelGraceMs },
    onLetGo: (runId) => {
      const run = host().runs.get(runId);
      // DBOS knows its own errors, and parks a workflow that another process runs.
      run?.fail(run.trouble ?? new Error(`The events of run "${runId}" could not be recorded`));
    },
  });
}

/** Releases the runs without ending them: the next process with this executor id continues them. */
async function close(executor: Executor, host: AgentHost): Promise<void> {
  if (host.isClosed) return;
  host.isClosed = true;
  const left = [...host.runs.values()].map(({ workflowId }) => workflowId);
  host.runs.clear();
  host.memory.handOver();
  await leaveAgent(executor, host, left);
}
