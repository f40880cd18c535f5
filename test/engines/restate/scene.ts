import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import type { RestateOptions } from '../../../src/engines/restate/options.ts';
import { restate } from '../../../src/engines/restate/restate.ts';
import type { DurableProgram, Effect, Engine, RunStatus } from '../../../src/runtime/record/durable.ts';
import { installRestate } from './install.ts';
import { freePort, startRestate } from './server.ts';
import type { RestateServer } from './server.ts';

/** An engine as a test wants it. */
export interface Wanted {
  readonly program: DurableProgram;
  readonly effects?: Readonly<Record<string, Effect>>;
  readonly options?: Partial<RestateOptions>;
  /** Of the agent. */
  readonly name?: string;
  readonly version?: string;
}

/** A server with whatever a test opens on it. */
export interface Scene {
  readonly server: RestateServer;
  readonly sdk: unknown;
  readonly engineOf: (wanted: Wanted) => Promise<Engine>;
  readonly stop: () => Promise<void>;
}

/** Starts a server, installed on demand. */
export async function openScene(): Promise<Scene> {
  const { sdk } = installRestate();
  const server = await startRestate();
  const { ingressUrl, adminUrl } = server;
  const open: Engine[] = [];
  const engineOf = async (wanted: Wanted): Promise<Engine> => {
    const { program, effects = {}, options = {}, name = `agent-${open.length}`, version = '1' } = wanted;
    const port = await freePort();
    // Nobody waits for runs that wait.
    const limits = { closeWaitMs: 1, ...options.limits };
    const createEngine = restate({ ingressUrl, adminUrl, serve: { port }, sdk, ...options, limits });
    const engine = await createEngine({ name, program, effects, version, clock: systemClock });
    open.push(engine);
    return engine;
  };
  const stop = async (): Promise<void> => {
    for (const engine of open) await engine.close();
    await server.stop();
  };
  return { server, sdk, engineOf, stop };
}

/** A scene for the tests of a file, from before the first until after the last. */
export function useScene(): Scene {
  const held: { scene?: Scene } = {};
  const scene = (): Scene => {
    if (held.scene === undefined) throw new Error('The scene is not open yet');
    return held.scene;
  };
  beforeAll(async () => {
    held.scene = await openScene();
  }, 300_000);
  afterAll(() => held.scene?.stop());
  return {
    get server() {
      return scene().server;
    },
    get sdk() {
      return scene().sdk;
    },
    engineOf: (wanted) => scene().engineOf(wanted),
    stop: () => scene().stop(),
  };
}

/** Asks until the run is so. */
export async function statusOf(
  engine: Engine,
  runId: string,
  ...types: readonly RunStatus['type'][]
): Promise<RunStatus> {
  let status = await engine.status(runId);
  for (let tries = 0; tries < 2000 && !types.includes(status.type); tries += 1) {
    await sleep(10);
    status = await engine.status(runId);
  }
  if (!types.includes(status.type)) throw new Error(`Run ${runId} stays ${JSON.stringify(status)}`);
  return status;
}

/** Asks until the run has ended. */
export function endOf(engine: Engine, runId: string): Promise<RunStatus> {
  return statusOf(engine, runId, 'ended', 'broken');
}

/** The invocation of Restate that carries the runs of an agent now. */
export async function invocationOf(server: RestateServer, agent: string): Promise<string> {
  for (let tries = 0; tries < 500; tries += 1) {
    const [row] = await server.query(
      `SELECT id FROM sys_invocation WHERE target_service_name = 'rerail.${agent}.program'
       AND target_handler_name = 'carry' AND status <> 'completed'`,
    );
    if (row !== undefined) return String(row['id']);
    await sleep(20);
  }
  throw new Error(`Restate carries no run of ${agent}`);
}
