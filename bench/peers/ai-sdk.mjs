// The AI SDK as a contestant of bench/agent.mjs.
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
 *   generateText: (options: object) => Promise<{ text: string }>,
 *   streamText: (options: object) => { textStream: AsyncIterable<string> },
 *   stepCountIs: (count: number) => unknown,
 *   tool: (options: object) => unknown,
 * }} AiSdk
 * @typedef {{ createOpenAICompatible: (options: object) => (name: string) => object }} Provider
 */

const sdk = /** @type {AiSdk} */ (await loadPeer('ai'));

/**
 * @param {object} model
 * @param {number} turns
 */
const optionsOf = (model, turns) => ({
  model,
  system: instructions,
  prompt,
  tools: {
    [toolName]: sdk.tool({
      description: toolDescription,
      inputSchema: toolSchema,
      execute: async (/** @type {{ query: string }} */ input) => lookUp(input),
    }),
  },
  stopWhen: sdk.stepCountIs(turns + 1),
});

/** @param {string} baseURL */
async function servedModel(baseURL) {
  const { createOpenAICompatible } = /** @type {Provider} */ (await loadPeer('@ai-sdk/openai-compatible'));
  return createOpenAICompatible({ name: 'instant', apiKey: key, baseURL, includeUsage: true })(modelName);
}

/** @type {import('../agent-task.mjs').Contestant} */
export const generate = {
  served: async ({ baseURL, turns }) => {
    const options = optionsOf(await servedModel(baseURL), turns);
    return async () => (await sdk.generateText(options)).text;
  },
  inProcess: (task) => {
    const options = optionsOf(inProcessModel(task), task.turns);
    return async () => (await sdk.generateText(options)).text;
  },
};

/** @type {import('../agent-task.mjs').Contestant} */
export const stream = {
  served: async ({ baseURL, turns }) => {
    const options = optionsOf(await servedModel(baseURL), turns);
    return () => textOf(sdk.streamText(options));
  },
  inProcess: (task) => {
    const options = optionsOf(inProcessModel(task), task.turns);
    return () => textOf(sdk.streamText(options));
  },
};

/** @param {ReturnType<AiSdk['streamText']>} result */
async function textOf({ textStream }) {
  let text = '';
  for await (const delta of textStream) text += delta;
  return text;
}

const usage = {
  inputTokens: { total: 20, noCache: 20 },
  outputTokens: { total: 8, text: 8 },
};
const callFinish = { unified: 'tool-calls', raw: 'tool_calls' };
const answerFinish = { unified: 'stop', raw: 'stop' };

/** @param {import('../agent-task.mjs').InProcessTask} task */
function inProcessModel({ turns, onTurn }) {
  /** @param {{ prompt: { role: string }[] }} call */
  const contentOf = (call) => {
    const turn = Math.floor((call.prompt.length - 2) / 2);
    onTurn(turn);
    if (turn >= turns - 1) return { finishReason: answerFinish, content: { type: 'text', text: answer } };
    const input = argumentsOf(turn);
    return {
      finishReason: callFinish,
      content: { type: 'tool-call', toolCallId: `call_${turn}`, toolName, input },
    };
  };
  return {
    specificationVersion: 'v3',
    provider: 'in-process',
    modelId: modelName,
    supportedUrls: {},
    doGenerate: async (/** @type {{ prompt: { role: string }[] }} */ call) => {
      const { finishReason, content } = contentOf(call);
      return { content: [content], finishReason, usage, warnings: [] };
    },
    doStream: async (/** @type {{ prompt: { role: string }[] }} */ call) => {
      const { finishReason, content } = contentOf(call);
      const parts =
        content.type === 'text'
          ? [
              { type: 'text-start', id: '0' },
              { type: 'text-delta', id: '0', delta: answer },
              { type: 'text-end', id: '0' },
            ]
          : [content];
      return {
        stream: ReadableStream.from([
          { type: 'stream-start', warnings: [] },
          ...parts,
          { type: 'finish', finishReason, usage },
        ]),
      };
    },
  };
}
