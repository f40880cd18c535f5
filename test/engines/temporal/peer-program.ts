import { createAgent, RerailError } from '../../../src/index.ts';
import { temporal } from '../../../src/engines/temporal/index.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { say } from '../../kill/say.ts';

// Somebody who has not installed Temporal's SDK.

const agent = createAgent({ name: 'lonely', model: scriptedModel([]), engine: temporal() });
say({ kind: 'made' });
try {
  await agent.serve();
} catch (error) {
  if (!RerailError.isInstance(error)) throw error;
  say({ kind: 'refused', code: error.code, message: error.message });
}
