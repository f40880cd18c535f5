import { createAgent, tool } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import { restate } from '../../src/engines/restate/index.ts';
import type { RestateOptions } from '../../src/engines/restate/index.ts';
import { installRestate } from '../engines/restate/install.ts';
import { freePort, startRestate } from '../engines/restate/server.ts';
import type { Row, Stage } from './row.ts';

// What an engine outside does not do, with a real server of Restate.

const pay = tool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object', properties: {} },
  permission: 'ask',
  execute: () => 'paid',
});

/** An agent whose runs Restate has, each with a server of its own. */
async function hosted(stage: Stage): Promise<(options?: Partial<RestateOptions>) => Promise<Agent>> {
  const { sdk } = installRestate();
  const server = await startRestate();
  stage.onEnd(() => server.stop());
  const model = await stage.model({ answers: [{ toolCalls: [{ name: 'pay' }] }] });
  return async (options = {}) => {
    const { ingressUrl, adminUrl } = server;
    const limits = { closeWaitMs: 1, ...options.limits };
    const engine = restate({ ingressUrl, adminUrl, sdk, ...options, limits });
    const agent = createAgent({ name: 'clerk', model, tools: [pay], engine });
    stage.onEnd(() => agent.close());
    return agent;
  };
}

export const durableRows = {
  ACTIVITY_FAILED: {
    origin: 'durable',
    ends: async (stage) => (await (await hosted(stage))()).run('Hello'),
  },
  SIGNAL_TIMEOUT: {
    origin: 'durable',
    throws: async (stage) => {
      const agentWith = await hosted(stage);
      const worker = await agentWith({ serve: { port: await freePort() } });
      const { runId } = await worker.run('Pay');
      await worker.close();
      const away = await agentWith({ limits: { signalTimeoutMs: 100 } });
      await away.inject(runId, 'Is anybody there?');
    },
  },
  HISTORY_LIMIT: {
    origin: 'durable',
    ends: async (stage) => {
      const agent = await (await hosted(stage))({ limits: { maxValueBytes: 1000 } });
      return agent.run('A long question. '.repeat(100));
    },
  },
} as const satisfies Readonly<Record<string, Row>>;
