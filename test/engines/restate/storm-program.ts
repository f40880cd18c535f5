import { createRequire } from 'node:module';
import { createAgent } from '../../../src/index.ts';
import { restate } from '../../../src/engines/restate/index.ts';
import { seededRandom } from '../../../src/testing/seeded-random.ts';
import { createClerkModel, createClerkTools } from '../../kill/clerk.ts';
import { openLedger } from '../../kill/ledger.ts';
import { readGiven, say } from '../../kill/say.ts';
import type { WorkerGiven } from './storm.ts';

// One life of a worker: it carries whatever Restate hands to it, until it is killed.

const { ledger: file, seed, port, sdkPath, ingressUrl, adminUrl } = readGiven() as WorkerGiven; // Of our own test.
const ledger = openLedger(file, () => undefined);
const agent = createAgent({
  name: 'clerk',
  model: createClerkModel(ledger),
  tools: createClerkTools(ledger, seededRandom(seed)),
  engine: restate({ ingressUrl, adminUrl, serve: { port }, sdk: createRequire(sdkPath)(sdkPath) }),
  limits: { timeoutMs: 100_000_000, maxToolAttempts: 1000 },
});
// The server may have been killed a moment ago; it is back before long.
for (let tries = 1; ; tries += 1) {
  try {
    await agent.serve();
    break;
  } catch (error) {
    if (tries === 100) throw error;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
say({ kind: 'ready' });
