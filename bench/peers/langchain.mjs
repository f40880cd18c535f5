// LangChain as a contestant of bench/agent.mjs.
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
 * @typedef {{ messages: { content: unknown }[] }} State
 * @typedef {{
 *   createAgent: (options: object) => { invoke: (state: object, options: object) => Promise<State> },
 *   tool: (execute: (input: { query: string }) => unknown, options: object) => object,
 * }} LangChain
 * @typedef {{ ChatOpenAI: new (options: object) => object }} LangChainOpenai
 * @typedef {{ BaseChatModel: new (options: object) => object }} ChatModels
 * @typedef {{ AIMessage: new (fields: object) => object }} Messages
 */

const { createAgent, tool } = /** @type {LangChain} */ (await loadPeer('langchain'));

/**
 * @param {object} model
 * @param {number} turns
 */
function createRun(model, turns) {
  const lookup = tool((input) => lookUp(input), {
    name: toolName,
    description: toolDescription,
    schema: toolSchema,
  });
  const agent = createAgent({ model, tools: [lookup], systemPrompt: instructions });
  const state = { messages: [{ role: 'user', content: prompt }] };
  return async () => {
    const { messages } = await agent.invoke(state, { recursionLimit: 3 * turns + 10 });
    return String(messages.at(-1)?.content);
  };
}

/** @type {import('../agent-task.mjs').Contestant} */
export const langchain = {
  served: async ({ baseURL, turns }) => {
    const { ChatOpenAI } = /** @type {LangChainOpenai} */ (await loadPeer('@langchain/openai'));
    const model = new ChatOpenAI({ model: modelName, apiKey: key, configuration: { baseURL } });
    return createRun(model, turns);
  },
  inProcess: async (task) => createRun(await inProcessModel(task), task.turns),
};

/** @param {import('../agent-task.mjs').InProcessTask} task */
async function inProcessModel({ turns, onTurn }) {
  const models = /** @type {ChatModels} */ (await loadPeer('@langchain/core/language_models/chat_models'));
  const { AIMessage } = /** @type {Messages} */ (await loadPeer('@langchain/core/messages'));
  // LangChain wants a class.
  class InProcessModel extends models.BaseChatModel {
    _llmType() {
      return 'in-process';
    }

    bindTools() {
      return this;
    }

    /** @param {readonly object[]} messages */
    async _generate(messages) {
      const turn = Math.floor((messages.length - 2) / 2);
      onTurn(turn);
      const args = /** @type {unknown} */ (JSON.parse(argumentsOf(turn)));
      const message =
        turn >= turns - 1
          ? new AIMessage({ content: answer })
          : new AIMessage({
              content: '',
              tool_calls: [{ type: 'tool_call', id: `call_${turn}`, name: toolName, args }],
            });
      return { generations: [{ text: turn >= turns - 1 ? answer : '', message }] };
    }
  }
  return new InProcessModel({});
}
