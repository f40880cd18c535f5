import { loadPeer } from '../../base/load-peer.ts';
import { configError } from '../../errors/config-error.ts';

/** What this engine uses of `@dbos-inc/dbos-sdk`. */
export interface DbosSdk {
  readonly DBOS: Dbos;
}

/** The one object of the SDK: a process has one DBOS. */
export interface Dbos {
  readonly logger: { readonly warn: (text: string) => void };
  readonly setConfig: (config: Readonly<Record<string, unknown>>) => void;
  readonly isInitialized: () => boolean;
  readonly launch: () => Promise<void>;
  readonly shutdown: () => Promise<void>;
  readonly registerWorkflow: (work: Workflow, config: Readonly<Record<string, unknown>>) => Workflow;
  readonly startWorkflow: (work: Workflow, params: StartParams) => (input: string) => Promise<unknown>;
  readonly resumeWorkflows: (workflowIds: readonly string[]) => Promise<unknown>;
  readonly runStep: <T>(work: () => Promise<T>, config: StepConfig) => Promise<T>;
  readonly send: (
    ...message: readonly [to: string, text: string, topic: string, key: string, format: MessageFormat]
  ) => Promise<void>;
  readonly recv: (topic: string, timeoutSeconds: number) => Promise<unknown>;
  readonly setEvent: (key: string, value: string) => Promise<void>;
  readonly getEvent: (workflowId: string, key: string, timeoutSeconds: number) => Promise<unknown>;
  readonly listWorkflows: (query: Readonly<Record<string, unknown>>) => Promise<readonly WorkflowRow[]>;
  readonly listWorkflowSteps: (workflowId: string) => Promise<readonly StepRow[] | undefined>;
}

/** Text in, text out: what crosses is JSON that no serializer of theirs looks into. */
export type Workflow = (input: string) => Promise<string>;

export interface StartParams {
  readonly workflowID: string;
  readonly workflowAttributes: Readonly<Record<string, string | number>>;
}

export interface StepConfig {
  readonly name: string;
  readonly retriesAllowed: false;
}

export interface MessageFormat {
  readonly serializationType: 'portable';
}

/** A workflow as a listing gives it. */
export interface WorkflowRow {
  readonly workflowID: string;
  readonly status: string;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly executorId?: string;
  readonly applicationVersion?: string;
  /** The arguments; absent where they were not loaded. */
  readonly input?: readonly unknown[];
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** A step as a listing gives it. */
export interface StepRow {
  readonly functionID: number;
  readonly name: string;
  readonly output: unknown;
}

const packageName = '@dbos-inc/dbos-sdk';

/** Finds the SDK when an engine is made, and not before. Throws a `ConfigError` with what to install where it is missing. */
export function loadDbosSdk(given: unknown): DbosSdk {
  const peer = loadPeer(packageName, { given, install: `npm install ${packageName}@5 pg` });
  if (peer.type === 'missing') throw configError(`The engine "dbos" cannot be created: ${peer.message}`);
  const sdk = peer.module as Partial<DbosSdk> | null; // Checked on the next line.
  if (typeof sdk?.DBOS?.runStep === 'function') return sdk as DbosSdk;
  throw configError(
    `"${packageName}" is not what was expected: it exports no DBOS with runStep; 5.x is needed`,
  );
}

/** What this engine uses of `pg`. */
export interface PgDriver {
  readonly Pool: new (config: Readonly<Record<string, unknown>>) => PgPool;
}

export interface PgPool {
  readonly query: (
    text: string,
    values: readonly unknown[],
  ) => Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
  readonly connect: () => Promise<PgClient>;
  readonly on: PgListening['on'] & ((event: 'connect', listener: (client: PgClient) => void) => unknown);
  readonly end: () => Promise<void>;
}

export interface PgClient extends PgListening {
  readonly query: (text: string) => Promise<unknown>;
}

interface PgListening {
  readonly on: (event: 'error', listener: (error: Error) => void) => unknown;
}

/** Finds the driver, which the SDK itself depends on. Throws a `ConfigError` with what to install where it is missing. */
export function loadPg(given: unknown): PgDriver {
  const peer = loadPeer('pg', { given, install: 'npm install pg' });
  if (peer.type === 'missing') throw configError(`The engine "dbos" cannot be created: ${peer.message}`);
  const driver = peer.module as Partial<PgDriver> | null; // Checked on the next line.
  if (typeof driver?.Pool === 'function') return driver as PgDriver;
  throw configError('"pg" is not what was expected: it exports no Pool');
}
