import { randomUUID } from 'node:crypto';
import { lazy } from '../../base/lazy.ts';
import { systemClock } from '../../base/system.ts';
import type { CreateEngine, Engine, EngineSetup } from '../../runtime/record/durable.ts';
import { connectClient, connectWorker } from './connect.ts';
import type { TemporalClient } from './connect.ts';
import { createEffectHost } from './effect-host.ts';
import type { EffectHost } from './effect-host.ts';
import { createHostVerbs, journalOf } from './host-verbs.ts';
import { queueOf, workflowIdOf } from './names.ts';
import { checkTemporalOptions, resolveTemporalOptions } from './options.ts';
import type { ResolvedOptions, TemporalOptions } from './options.ts';
import type { Closable } from './sdk.ts';
import { startWorkers } from './workers.ts';
import type { Workers } from './workers.ts';

/**
 * Runs on Temporal: the driver is a workflow in Temporal's sandbox, every effect an activity that is tried once. A run outlives
 * its process, and any process that has made the same agent continues it.
 *
 * @example
 * const agent = createAgent({ name: 'orders', model, engine: temporal({ address: '127.0.0.1:7233' }) });
 * await agent.serve(); // executes runs until it is closed
 */
export function temporal(options: TemporalOptions = {}): CreateEngine {
  checkTemporalOptions(options);
  // The SDK is not looked for before the first agent is made.
  const resolved = lazy(() => resolveTemporalOptions(options));
  return async (setup) => openEngine(resolved(), setup);
}

async function openEngine(options: ResolvedOptions, setup: EngineSetup): Promise<Engine> {
  const client = await connectClient(options);
  let native: Closable | undefined;
  let workers: Workers | undefined;
  let isClosed = false;
  const closeAll = async (): Promise<void> => {
    isClosed = true;
    await workers?.close();
    await native?.close();
    await client.connection.close();
  };
  try {
    if (options.carries) {
      native = await connectWorker(options);
      const ownQueue = `${queueOf(options.taskQueue, setup.name)}:${randomUUID()}`;
      workers = await startWorkers({
        options,
        connection: native,
        host: createHost(options, setup, { client, ownQueue }),
        queue: queueOf(options.taskQueue, setup.name),
        ownQueue,
      });
    }
  } catch (error) {
    await closeAll();
    throw error;
  }
  const host = {
    setup,
    options,
    client,
    isClosed: () => isClosed,
  };
  const close = lazy(closeAll);
  return createHostVerbs(host, () => close());
}

interface Surroundings {
  readonly client: TemporalClient;
  readonly ownQueue: string;
}

function createHost(
  { maxRuns, limits, requestTimeoutMs }: ResolvedOptions,
  setup: EngineSetup,
  { client, ownQueue }: Surroundings,
): EffectHost {
  const { connection, workflow } = client;
  return createEffectHost({
    setup,
    queue: ownQueue,
    newId: randomUUID,
    maxRuns,
    maxValueBytes: limits.maxValueBytes,
    closeGraceMs: limits.cancelGraceMs,
    recall: async ({ runId }) => {
      const handle = workflow.getHandle(workflowIdOf(setup.name, runId));
      const deadline = systemClock.wallMs() + requestTimeoutMs;
      try {
        return await connection.withDeadline(deadline, () => journalOf({ handle }));
      } catch {
        return undefined; // The workflow hands it out again.
      }
    },
  });
}
