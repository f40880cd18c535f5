import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { systemClock } from '../../../src/base/system.ts';
import type { TemporalOptions } from '../../../src/engines/temporal/options.ts';
import { temporal } from '../../../src/engines/temporal/temporal.ts';
import type { Effect, Engine } from '../../../src/runtime/record/durable.ts';
import { bundleForTemporal } from './bundle.ts';
import { installTemporal } from './find-temporal.ts';
import { programOf } from './programs.ts';
import type { ProgramFacts } from './programs.ts';
import { startServer } from './server/start-server.ts';
import type { SimulatedServer } from './server/start-server.ts';

/** A server, and what it takes to carry runs there with the real SDK. */
export interface Backend {
  readonly folder: string;
  /** Not there where a real server is given. */
  readonly simulated: SimulatedServer | undefined;
  readonly options: TemporalOptions;
  readonly close: () => void;
}

/** Of a real server, where one is given. */
export const realAddress: string | undefined = process.env['TEMPORAL_ADDRESS'];

/** What tests are called by: whoever reads the output knows what was tried. */
export const serverName: string =
  realAddress === undefined
    ? 'the simulated server (NOT TRIED on a real one: TEMPORAL_ADDRESS is not set)'
    : `the server at ${realAddress}`;

/** Short times, so that a worker that is gone is noticed within a test. */
const limits = { heartbeatTimeoutMs: 1000, takeoverMs: 300, cancelGraceMs: 300 };

/** Opens the server that is given, or a simulated one. */
export async function openBackend(
  carries: 'agents' | 'programs',
  { taskTimeoutMs = 2000 } = {},
): Promise<Backend> {
  const folder = installTemporal();
  const { code } = await bundleForTemporal(folder, carries === 'programs' ? testBundle : {});
  const simulated = realAddress === undefined ? await startServer(folder, { taskTimeoutMs }) : undefined;
  const options: TemporalOptions = {
    address: simulated?.address ?? realAddress ?? '',
    taskQueue: `tests-${randomUUID()}`,
    packagesFrom: folder,
    workflowBundle: { code },
    limits,
  };
  return { folder, simulated, options, close: () => simulated?.close() };
}

const stub = path.join(import.meta.dirname, 'sandbox-node.ts');

/** The workflow of the tests. */
export const testBundle = {
  entry: path.join(import.meta.dirname, 'test-workflow.ts'),
  alias: { 'node:timers/promises': stub, 'node:util': stub },
};

export interface Opening {
  readonly name: string;
  readonly facts: ProgramFacts;
  readonly effects?: Readonly<Record<string, Effect>>;
}

/** An engine that carries one of the tests' programs. */
export async function openProgram(
  options: TemporalOptions,
  { name, facts, effects = {} }: Opening,
): Promise<Engine> {
  return temporal(options)({
    name,
    version: '1',
    clock: systemClock,
    program: programOf(facts),
    effects,
    facts: () => facts,
  });
}
