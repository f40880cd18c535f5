import { createAgent, RerailError } from '../../../src/index.ts';
import { restate } from '../../../src/engines/restate/index.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { say } from '../../kill/say.ts';

// Somebody who has not installed the SDK.

const engine = restate({ ingressUrl: 'http://127.0.0.1:1' });
const agent = createAgent({ name: 'lonely', model: scriptedModel([]), engine });
say({ kind: 'made' });
try {
  await agent.serve();
} catch (error) {
  if (!RerailError.isInstance(error)) throw error;
  say({ kind: 'refused', code: error.code, message: error.message });
}
