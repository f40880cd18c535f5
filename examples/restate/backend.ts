import { installRestate } from '../../test/engines/restate/install.ts';
import { freePort, startRestate } from '../../test/engines/restate/server.ts';

// Only for a checkout of this repository: a Restate of its own, and the SDK as the tests have it. In a program of yours the addresses of a
// Restate are all: npm install @restatedev/restate-sdk, and restate({ ingressUrl, adminUrl, serve: { port } }).

/** Where everybody is. */
export interface Addresses {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  /** Where the worker is reached. */
  readonly port: number;
}

interface Backend {
  readonly addresses: Addresses;
  readonly sdk: unknown;
  readonly isWorker: boolean;
  readonly stop: () => Promise<void>;
}

/** Starts a Restate, or takes the one that is named by the first argument: then this is a worker. */
export async function startBackend(): Promise<Backend> {
  const { sdk } = installRestate();
  const [, , given] = process.argv;
  if (given !== undefined) {
    const addresses = JSON.parse(given) as Addresses; // Of the process that has started this one.
    return { addresses, sdk, isWorker: true, stop: () => Promise.resolve() };
  }
  const { ingressUrl, adminUrl, stop } = await startRestate();
  const addresses = { ingressUrl, adminUrl, port: await freePort() };
  return { addresses, sdk, isWorker: false, stop };
}
