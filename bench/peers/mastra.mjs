// Mastra as a contestant of bench/agent.mjs: the last version that runs on Node 20.
import {
  answer,
  argumentsOf,
  instructions,
  key,
  lookUp,
  modelName,
  prompt,
  toolDescription,
  toolName,
  toolSchema,
} from '../agent-task.mjs';
import { loadPeer } from './load-peer.mjs';

/**
 * @typedef {{ Agent: new (options: object) => {
 *   generate: (input: string, options: object) => Promise<{ text: string }>,
 * } }} MastraAgents
 * @typedef {{ createTool: (options: object) => object }} MastraTools
 */

const { Agent } = /** @type {MastraAgents} */ (await loadPeer('@mastra/core/agent'));
const { createTool } = /** @type {MastraTools} */ (await loadPeer('@mastra/core/tools'));

/**
 * @param {object} model
 * @param {number} turns
 */
function createRun(model, turns) {
  const lookup = createTool({
    id: toolName,
    description: toolDescription,
    inputSchema: toolSchema,
    execute: async (/** @type {{ context: { query: string } }} */ { context }) => lookUp(context),
  });
  const agent = new Agent({ name: 'bench', instructions, model, tools: { [toolName]: lookup } });
  return async () => (await agent.generate(prompt, { maxSteps: turns + 1 })).text;
}

/** @type {import('../agent-task.mjs').Contestant} */
export const mastra = {
  served: ({ baseURL, turns }) => createRun({ id: `bench/${modelName}`, url: baseURL, apiKey: key }, turns),
  inProcess: (task) => createRun(inProcessModel(task), task.turns),
};

const usage = { inputTokens: 20, outputTokens: 8, totalTokens: 28 };

/** @param {import('../agent-task.mjs').InProcessTask} task */
function inProcessModel({ turns, onTurn }) {
  return {
    specificationVersion: 'v2',
    provider: 'in-process',
    modelId: modelName,
    supportedUrls: {},
    // A call of `generate` asks for the whole answer; nobody asks for a stream here.
    doGenerate: async (/** @type {{ prompt: { role: string, content: { length: number } }[] }} */ call) => {
      // Results that follow each other stand in one message.
      const turn = call.prompt.reduce(
        (count, { role, content }) => count + (role === 'tool' ? content.length : 0),
        0,
      );
      onTurn(turn);
      const isLast = turn >= turns - 1;
      const content = isLast
        ? { type: 'text', text: answer }
        : { type: 'tool-call', toolCallId: `call_${turn}`, toolName, input: argumentsOf(turn) };
      return { content: [content], finishReason: isLast ? 'stop' : 'tool-calls', usage, warnings: [] };
    },
  };
}
