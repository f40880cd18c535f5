import { fileURLToPath } from 'node:url';
import type { ResolvedOptions } from './options.ts';
import { connectError } from './failures.ts';
import type {
  BundleOptions,
  Closable,
  Connection,
  DataConverter,
  TemporalSdk,
  WorkflowClient,
} from './sdk.ts';

/** The client's way to the server. */
export interface TemporalClient {
  readonly connection: Connection;
  readonly workflow: WorkflowClient;
}

/** Connects the client. Throws a `NETWORK_ERROR` where there is no server. */
export async function connectClient(options: ResolvedOptions): Promise<TemporalClient> {
  const { sdk, namespace, requestTimeoutMs } = options;
  const { Connection, Client } = sdk.client;
  try {
    const connection = await Connection.connect({
      ...addressOf(options),
      connectTimeout: requestTimeoutMs,
      // The caller decides whether to ask again.
      interceptors: [],
    });
    const { workflow } = new Client({ connection, namespace, ...convertersOf(options) });
    return { connection, workflow };
  } catch (error) {
    throw connectError(`connect to Temporal at ${options.address}`, error);
  }
}

/** Connects the worker, which has a way of its own. */
export async function connectWorker(options: ResolvedOptions): Promise<Closable> {
  const { sdk, logLevel } = options;
  installRuntime(sdk, logLevel);
  try {
    return await sdk.worker.NativeConnection.connect(addressOf(options));
  } catch (error) {
    throw connectError(`connect to Temporal at ${options.address}`, error);
  }
}

/** What the SDK says, on both of its sides. A process has one runtime. */
export function installRuntime({ worker }: TemporalSdk, level: string): void {
  const { Runtime, DefaultLogger, makeTelemetryFilterString } = worker;
  const filter = makeTelemetryFilterString({ core: level, other: 'ERROR' });
  try {
    Runtime.install({
      logger: new DefaultLogger(level),
      telemetryOptions: { logging: { filter, console: {} } },
    });
  } catch {
    // It was installed before: then the user's stays.
  }
}

function addressOf({ address, tls, apiKey }: ResolvedOptions): Readonly<Record<string, unknown>> {
  return {
    address,
    ...(tls === undefined ? {} : { tls }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** As the client and the worker take them. */
export function convertersOf({ payloadCodecs }: ResolvedOptions): { readonly dataConverter?: DataConverter } {
  return payloadCodecs === undefined ? {} : { dataConverter: { payloadCodecs } };
}

/** The file beside this one in the published package. */
const ownWorkflow = new URL('workflow.js', import.meta.url);

/** From where the worker has the code of the workflow. It is bundled with the SDK that runs it. */
export function bundleOf(
  options: Pick<ResolvedOptions, 'sdk' | 'workflowBundle' | 'workflowsPath'>,
): BundleOptions {
  const { workflowBundle, workflowsPath = fileURLToPath(ownWorkflow), sdk } = options;
  if (workflowBundle !== undefined) return { workflowBundle };
  return {
    workflowsPath,
    bundlerOptions: {
      webpackConfigHook: (config) => ({
        ...config,
        resolve: {
          ...config.resolve,
          alias: {
            ...(config.resolve?.alias as object | undefined), // An object, where it is one of Temporal's.
            '@temporalio/workflow': sdk.workflowFolder,
          },
        },
      }),
    },
  };
}
