// OpenAI Agents as a contestant of bench/agent.mjs, without its tracing, which would send everything to its maker.
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
 * @typedef {{
 *   Agent: new (options: object) => object,
 *   OpenAIChatCompletionsModel: new (client: object, name: string) => object,
 *   Usage: new (counts: object) => object,
 *   run: (agent: object, input: string, options: object) => Promise<{ finalOutput?: unknown }>,
 *   setTracingDisabled: (isDisabled: boolean) => void,
 *   tool: (options: object) => object,
 * }} OpenaiAgents
 * @typedef {{ default: new (options: object) => object }} OpenaiClient
 */

const { Agent, OpenAIChatCompletionsModel, Usage, run, setTracingDisabled, tool } =
  /** @type {OpenaiAgents} */ (await loadPeer('@openai/agents'));
setTracingDisabled(true);

/**
 * @param {object} model
 * @param {number} turns
 */
function createRun(model, turns) {
  const lookup = tool({
    name: toolName,
    description: toolDescription,
    parameters: toolSchema,
    execute: async (/** @type {{ query: string }} */ input) => lookUp(input),
  });
  const agent = new Agent({ name: 'bench', instructions, model, tools: [lookup] });
  return async () => String((await run(agent, prompt, { maxTurns: turns + 1 })).finalOutput);
}

/** @type {import('../agent-task.mjs').Contestant} */
export const openaiAgents = {
  served: async ({ baseURL, turns }) => {
    const { default: OpenAI } = /** @type {OpenaiClient} */ (await loadPeer('openai'));
    const client = new OpenAI({ apiKey: key, baseURL });
    return createRun(new OpenAIChatCompletionsModel(client, modelName), turns);
  },
  inProcess: (task) => createRun(inProcessModel(task), task.turns),
};

/** @param {import('../agent-task.mjs').InProcessTask} task */
function inProcessModel({ turns, onTurn }) {
  return {
    getResponse: async (/** @type {{ input: string | unknown[] }} */ { input }) => {
      const turn = typeof input === 'string' ? 0 : Math.floor((input.length - 1) / 2);
      onTurn(turn);
      const content = [{ type: 'output_text', text: answer }];
      const call = { type: 'function_call', callId: `call_${turn}`, name: toolName };
      const output =
        turn >= turns - 1
          ? { type: 'message', role: 'assistant', status: 'completed', content }
          : { ...call, status: 'completed', arguments: argumentsOf(turn) };
      return {
        usage: new Usage({ requests: 1, inputTokens: 20, outputTokens: 8, totalTokens: 28 }),
        output: [output],
      };
    },
    getStreamedResponse: () => {
      throw new Error('Nobody asks for a stream here');
    },
  };
}
