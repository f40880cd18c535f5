import { wait as pause } from '../../base/abort.ts';
import { systemClock } from '../../base/system.ts';
import { bundleOf, convertersOf } from './connect.ts';
import type { EffectHost } from './effect-host.ts';
import { typed } from './failures.ts';
import type { EffectReply, EffectRequest, News } from './messages.ts';
import { activityType } from './names.ts';
import type { ResolvedOptions } from './options.ts';
import type { Closable, Worker } from './sdk.ts';

/** What executes runs in this process. */
export interface Workers {
  readonly close: () => Promise<void>;
}

export interface Carrying {
  readonly options: ResolvedOptions;
  readonly connection: Closable;
  readonly host: EffectHost;
  /** Of the agent. */
  readonly queue: string;
  /** Of this process alone. */
  readonly ownQueue: string;
}

const shutdownMs = 5000;
/** Of what is not over by then is released. */
const maxCloseMs = 10_000;

/** Starts two workers: one for the agent's queue, one for effects of runs that this process knows already. */
export async function startWorkers(carrying: Carrying): Promise<Workers> {
  const { options, connection, host, queue, ownQueue } = carrying;
  const { Worker } = options.sdk.worker;
  const common = {
    connection,
    namespace: options.namespace,
    activities: { [activityType]: activityOf(carrying) },
    maxConcurrentActivityTaskExecutions: options.maxConcurrentEffects,
    // What is stopped in the middle continues elsewhere, as after a crash: there is nothing to wait for.
    shutdownGraceTime: 0,
    shutdownForceTime: shutdownMs,
    ...convertersOf(options),
  };
  const tell = { fn: (_info: unknown, news: News) => host.hear(news), callDuringReplay: false };
  const bundle = bundleOf(options);
  const kept: Kept = { live: new Set(), closing: new AbortController() };
  const makers = [
    () => Worker.create({ ...common, ...bundle, taskQueue: queue, sinks: { rerail: { tell } } }),
    () => Worker.create({ ...common, taskQueue: ownQueue }),
  ];
  const running: Promise<void>[] = [];
  try {
    for (const make of makers) running.push(keepUp(kept, await make(), make));
  } catch (error) {
    kept.closing.abort();
    for (const worker of kept.live) shutDown(worker);
    throw typed({ words: `run the task queue "${queue}"` }, error);
  }
  return {
    close: async () => {
      kept.closing.abort();
      host.close();
      for (const worker of kept.live) shutDown(worker);
      const down = new AbortController();
      const late = pause(maxCloseMs, { clock: systemClock, signal: down.signal });
      await Promise.race([Promise.all(running), late]);
      // A timer that is left would keep the process up.
      down.abort();
    },
  };
}

interface Kept {
  readonly live: Set<Worker>;
  readonly closing: AbortController;
}

const firstPauseMs = 200;
const longestPauseMs = 30_000;

/** A worker that stops by itself, as when its server was away at the wrong moment, is made again until all of this is closed. */
async function keepUp({ live, closing }: Kept, first: Worker, make: () => Promise<Worker>): Promise<void> {
  const { signal } = closing;
  let worker: Worker | undefined = first;
  let pauseMs = firstPauseMs;
  // Ends with `close`.
  while (!signal.aborted) {
    const startedMs = systemClock.monotonicMs();
    try {
      worker ??= await make();
      live.add(worker);
      await worker.run();
    } catch {
      // Temporal's own logger has reported it.
    }
    if (worker !== undefined) live.delete(worker);
    worker = undefined;
    const isFresh = systemClock.monotonicMs() - startedMs < longestPauseMs;
    pauseMs = isFresh ? Math.min(longestPauseMs, pauseMs * 2) : firstPauseMs;
    await pause(pauseMs, { clock: systemClock, signal });
  }
}

/** One that has stopped by itself cannot be shut down. */
function shutDown(worker: Worker): void {
  try {
    worker.shutdown();
  } catch {
    // It is down.
  }
}

/** So often within the time after which a silent worker is taken for dead. */
const beatsPerTimeout = 4;

/** The one activity. It reports to Temporal that this process lives for as long as the effect is at work. */
function activityOf({ options, host }: Carrying): (request: EffectRequest) => Promise<EffectReply> {
  const { Context } = options.sdk.activity;
  const { heartbeatTimeoutMs } = options.limits;
  return async (request) => {
    const context = Context.current();
    let stopTimer = (): void => undefined;
    const wait = (): void => {
      stopTimer = systemClock.after(heartbeatTimeoutMs / beatsPerTimeout, beat);
    };
    const beat = (): void => {
      context.heartbeat();
      wait();
    };
    // What is over soon need not say that it lives.
    wait();
    try {
      return await host.perform(request, { signal: context.cancellationSignal });
    } finally {
      stopTimer();
    }
  };
}
