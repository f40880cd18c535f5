import { createRequire } from 'node:module';
import path from 'node:path';
import { loadPeer } from '../../base/load-peer.ts';
import { configError } from '../../errors/config-error.ts';
import type { EffectRequest, EffectReply } from './messages.ts';

const packageName = '@temporalio/worker';
const install = `npm install ${packageName}@1`;

/** What this engine uses of Temporal's packages. They come with the worker, so that all are of one version. */
export interface TemporalSdk {
  readonly worker: WorkerPackage;
  readonly client: ClientPackage;
  readonly activity: ActivityPackage;
  /** Where `@temporalio/workflow` lies: the workflow is bundled with it. */
  readonly workflowFolder: string;
}

/** Of `@temporalio/worker`. */
export interface WorkerPackage {
  readonly Worker: {
    readonly create: (options: WorkerOptions) => Promise<Worker>;
    readonly runReplayHistory: (
      options: BundleOptions & { readonly sinks: unknown },
      history: unknown,
      workflowId?: string,
    ) => Promise<void>;
  };
  readonly NativeConnection: {
    readonly connect: (options: Readonly<Record<string, unknown>>) => Promise<Closable>;
  };
  readonly Runtime: {
    readonly install: (options: { readonly logger: unknown; readonly telemetryOptions: unknown }) => unknown;
  };
  readonly makeTelemetryFilterString: (levels: { readonly core: string; readonly other: string }) => string;
  readonly DefaultLogger: new (level: string) => unknown;
}

export interface Closable {
  readonly close: () => Promise<void>;
}

export interface Worker {
  /** Resolves when it is shut down; rejects where it cannot continue. */
  readonly run: () => Promise<void>;
  readonly shutdown: () => void;
}

/** From where the worker has the code of the workflow. */
export type BundleOptions =
  | { readonly workflowBundle: WorkflowBundle }
  | {
      readonly workflowsPath: string;
      readonly bundlerOptions: { readonly webpackConfigHook: (config: WebpackConfig) => WebpackConfig };
    };

/** A bundle that was made before, by `bundleWorkflowCode` of `@temporalio/worker`. */
export type WorkflowBundle = { readonly code: string } | { readonly codePath: string };

export interface WebpackConfig {
  readonly resolve?: { readonly alias?: unknown };
  readonly [name: string]: unknown;
}

export type WorkerOptions = Partial<BundleOptions> & {
  readonly connection: Closable;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly activities: Readonly<Record<string, (request: EffectRequest) => Promise<EffectReply>>>;
  readonly sinks?: unknown;
  readonly maxConcurrentActivityTaskExecutions: number;
  readonly shutdownGraceTime: number;
  readonly shutdownForceTime: number;
  readonly dataConverter?: DataConverter;
};

export interface DataConverter {
  readonly payloadCodecs: readonly unknown[];
}

/** Of `@temporalio/client`. */
export interface ClientPackage {
  readonly Connection: {
    readonly connect: (options: Readonly<Record<string, unknown>>) => Promise<Connection>;
  };
  readonly Client: new (options: {
    readonly connection: Connection;
    readonly namespace: string;
    readonly dataConverter?: DataConverter;
  }) => { readonly workflow: WorkflowClient };
}

export interface Connection extends Closable {
  readonly withDeadline: <T>(deadline: number, work: () => Promise<T>) => Promise<T>;
}

export interface WorkflowClient {
  readonly start: (type: string, options: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly getHandle: (workflowId: string, runId?: string) => WorkflowHandle;
}

export interface WorkflowHandle {
  readonly signal: (name: string, payload: unknown) => Promise<void>;
  readonly query: (name: string, input?: unknown) => Promise<unknown>;
  readonly result: () => Promise<unknown>;
  readonly describe: () => Promise<Description>;
  readonly fetchHistory: () => Promise<{ readonly events?: readonly unknown[] | null }>;
}

export interface Description {
  readonly runId: string;
  readonly status: { readonly name: string };
  readonly raw: { readonly pendingWorkflowTask?: { readonly attempt?: number | null } | null };
}

/** Of `@temporalio/activity`. */
export interface ActivityPackage {
  readonly Context: {
    readonly current: () => {
      readonly heartbeat: () => void;
      readonly cancellationSignal: AbortSignal;
    };
  };
}

/**
 * Finds the packages when an engine is made, and not before. Throws a `ConfigError` with what to install where they are missing.
 *
 * @param from a folder in which they are installed; by itself they are looked for from here
 */
export function loadTemporalSdk(from: string | undefined): TemporalSdk {
  const start = from === undefined ? import.meta.url : path.join(path.resolve(from), 'package.json');
  const require = createRequire(start);
  const given = from === undefined ? undefined : givenBy(require);
  const peer = loadPeer(packageName, { given, install });
  if (peer.type === 'missing') throw configError(`The engine "temporal" cannot be created: ${peer.message}`);
  const worker = peer.module as Partial<WorkerPackage> | null; // Checked on the next line.
  if (typeof worker?.Worker?.create !== 'function' || typeof worker.NativeConnection?.connect !== 'function')
    throw configError(
      `"${packageName}" is not what was expected: it exports no Worker and no NativeConnection; 1.x is needed`,
    );
  // From where the worker has them itself: a second copy of another version would not fit.
  const beside = createRequire(require.resolve(packageName));
  return {
    worker: worker as WorkerPackage, // As far as it is used.
    client: beside('@temporalio/client') as ClientPackage, // Of the same version.
    activity: beside('@temporalio/activity') as ActivityPackage, // As above.
    workflowFolder: path.dirname(beside.resolve('@temporalio/workflow/package.json')),
  };
}

function givenBy(require: NodeJS.Require): unknown {
  try {
    return require(packageName);
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw configError(
      `The engine "temporal" cannot be created: "packagesFrom" has no ${packageName} (${why}): ${install}`,
    );
  }
}
