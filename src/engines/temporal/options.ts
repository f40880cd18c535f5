import { defined } from '../../base/defined.ts';
import { configError } from '../../errors/config-error.ts';
import type { CarryLimits } from './messages.ts';
import { loadTemporalSdk } from './sdk.ts';
import type { TemporalSdk, WorkflowBundle } from './sdk.ts';
import { checkOptions } from '../../model/check/check-options.ts';

/** How `temporal()` is set up. */
export interface TemporalOptions {
  /** Of the server: `host:port`. `127.0.0.1:7233` by default. */
  readonly address?: string;
  /** `default` by default. */
  readonly namespace?: string;
  /** The task queue of an agent is this, a colon and its name. `rerail` by default. */
  readonly taskQueue?: string;
  /** `true`, or what Temporal's own connections take. No encryption by default. */
  readonly tls?: boolean | Readonly<Record<string, unknown>>;
  /** For Temporal Cloud. */
  readonly apiKey?: string;
  /**
   * Whether this process executes runs. `false` for one that only begins them and asks about them: another process must have made the
   * same agent then. `true` by default.
   */
  readonly carries?: boolean;
  /** Encrypt or compress what Temporal keeps: `PayloadCodec`s of `@temporalio/common`, the same in every process. */
  readonly payloadCodecs?: readonly unknown[];
  /** How long a verb of the host may take where the server does not answer. 10 s by default. */
  readonly requestTimeoutMs?: number;
  /** Effects at work at the same time in this process. 100 by default. */
  readonly maxConcurrentEffects?: number;
  /** Runs that this process keeps a copy of. 1,000 by default; one too many costs time and nothing else. */
  readonly maxRuns?: number;
  /** Bounds that a run goes by. They stand in its history: a run keeps those that it was begun with. */
  readonly limits?: Partial<CarryLimits>;
  /** Made before by `bundleWorkflowCode`, which spares each start of a process about two seconds. */
  readonly workflowBundle?: WorkflowBundle;
  /** Of the file that Temporal runs in its sandbox. To be set only where a bundler has moved this package. */
  readonly workflowsPath?: string;
  /** The folder in which `@temporalio/worker` is installed, where it cannot be found from here. */
  readonly packagesFrom?: string;
  /** Of what Temporal's SDK says on the console. `ERROR` by default; nothing is changed where its `Runtime` was installed before. */
  readonly logLevel?: 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
}

/** The options with their defaults, and the SDK loaded. */
export interface ResolvedOptions extends Omit<TemporalOptions, 'limits' | 'logLevel'> {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly carries: boolean;
  readonly requestTimeoutMs: number;
  readonly maxConcurrentEffects: number;
  readonly maxRuns: number;
  readonly limits: CarryLimits;
  readonly logLevel: string;
  readonly sdk: TemporalSdk;
}

const defaultLimits: CarryLimits = {
  effectTimeoutMs: 24 * 3_600_000,
  heartbeatTimeoutMs: 30_000,
  takeoverMs: 2000,
  cancelGraceMs: 1000,
  maxLives: 5,
  maxSignals: 1000,
  maxHistoryEvents: 50_000,
  maxHistoryBytes: 45_000_000,
  maxValueBytes: 1_900_000,
};

const optionNames = [
  'address',
  'namespace',
  'taskQueue',
  'tls',
  'apiKey',
  'carries',
  'payloadCodecs',
  'requestTimeoutMs',
  'maxConcurrentEffects',
  'maxRuns',
  'limits',
  'workflowBundle',
  'workflowsPath',
  'packagesFrom',
  'logLevel',
] as const satisfies readonly (keyof TemporalOptions)[];

/** Checks what can never work, before anything is done. Throws a `ConfigError`. */
export function checkTemporalOptions(options: TemporalOptions): void {
  checkOptions({ of: 'temporal()', rules: optionNames }, options);
  const { address, limits = {} } = options;
  if (address !== undefined && !/^(?:\[[\da-f:]+\]|[\w.-]+)(?::\d+)?$/i.test(address))
    throw configError(
      `"address" of temporal() must be the host and the port of a server, such as "127.0.0.1:7233", got ${JSON.stringify(address)}`,
    );
  for (const name of ['namespace', 'taskQueue', 'apiKey', 'workflowsPath', 'packagesFrom'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw configError(`"${name}" of temporal() must be a text`);
  }
  const bounds = ['requestTimeoutMs', 'maxConcurrentEffects', 'maxRuns'] as const;
  const given = [
    ...bounds.map((name) => [name, options[name]] as const),
    ...Object.entries(limits).map(([name, value]) => [`limits.${name}`, value] as const),
  ];
  for (const [name, value] of given)
    if (value !== undefined && !(Number.isFinite(value) && value >= 1))
      throw configError(`"${name}" of temporal() must be a number from 1, got ${String(value)}`);
  checkOptions({ of: '"limits" of temporal()', rules: Object.keys(defaultLimits) }, limits);
}

/** The options with their defaults. Loads the SDK. */
export function resolveTemporalOptions(options: TemporalOptions): ResolvedOptions {
  return {
    address: '127.0.0.1:7233',
    namespace: 'default',
    taskQueue: 'rerail',
    carries: true,
    requestTimeoutMs: 10_000,
    maxConcurrentEffects: 100,
    maxRuns: 1000,
    logLevel: 'ERROR',
    ...defined(options),
    limits: { ...defaultLimits, ...defined(options.limits ?? {}) },
    sdk: loadTemporalSdk(options.packagesFrom),
  };
}
