// Rerail as a contestant of bench/agent.mjs.
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
} from './agent-task.mjs';

/**
 * @typedef {import('../dist/model/index.js').Model} Model
 * @typedef {import('../dist/model/index.js').ModelResponse} ModelResponse
 * @typedef {import('../dist/model/index.js').AttemptOptions} AttemptOptions
 * @typedef {import('../dist/index.js').AgentOptions} AgentOptions
 */

/**
 * @param {Model} model
 * @param {Partial<AgentOptions>} [options]
 */
async function createBenchAgent(model, options = {}) {
  const { createAgent, tool } = await import('../dist/index.js');
  const lookup = tool({
    name: toolName,
    description: toolDescription,
    input: toolSchema,
    execute: (input) => lookUp(input),
  });
  return createAgent({ name: 'bench', model, instructions, tools: [lookup], ...options });
}

/** @param {string} baseURL */
async function servedModel(baseURL) {
  const { openaiCompatible } = await import('../dist/providers/openai-compatible/index.js');
  return openaiCompatible({ name: 'instant', baseURL, apiKey: key })(modelName);
}

/** @param {import('../dist/index.js').RunOutcome} outcome */
function textOf(outcome) {
  if (outcome.type === 'completed') return outcome.text;
  const failure = 'failure' in outcome ? outcome.failure?.message : undefined;
  throw new Error(`The run ended as ${outcome.type}: ${failure ?? JSON.stringify(outcome.messages.at(-1))}`);
}

/** @type {import('./agent-task.mjs').Contestant} */
export const rerail = {
  served: async ({ baseURL }) => {
    const agent = await createBenchAgent(await servedModel(baseURL));
    return async () => textOf(await agent.run(prompt));
  },
  inProcess: async (task) => {
    const { trustCall } = await import('../dist/model/trusted-calls.js');
    return inProcessRun(task, trustCall);
  },
};

/** The text as a consumer of the stream puts it together. @type {import('./agent-task.mjs').Contestant} */
export const rerailStream = {
  served: async ({ baseURL }) => {
    const agent = await createBenchAgent(await servedModel(baseURL));
    return async () => {
      let text = '';
      let turn = 0;
      const stream = agent.stream(prompt);
      for await (const event of stream) {
        if (event.type !== 'text-delta') continue;
        text = event.turn === turn ? text + event.text : event.text;
        turn = event.turn;
      }
      textOf(await stream.outcome);
      return text;
    };
  },
};

/** With a model that nobody vouches for, so that every call is watched. @type {import('./agent-task.mjs').Contestant} */
export const rerailGuarded = { inProcess: (task) => inProcessRun(task, (call) => call) };

/**
 * @param {import('./agent-task.mjs').InProcessTask} task
 * @param {(call: Model['call']) => Model['call']} vouch
 */
async function inProcessRun(task, vouch) {
  const limits = { maxTurns: 10_000, maxToolCalls: 10_000 };
  const agent = await createBenchAgent(inProcessModel(task, vouch), { limits });
  return async () => textOf(await agent.run(prompt));
}

const usage = { inputTokens: 20, outputTokens: 8 };
const callFinish = /** @type {const} */ ({ reason: 'tool-calls', raw: 'tool_calls' });
const answerFinish = /** @type {const} */ ({ reason: 'stop', raw: 'stop' });

/**
 * As little as a model can be: it answers at once, and says every part to whoever listens.
 *
 * @param {import('./agent-task.mjs').InProcessTask} task
 * @param {(call: Model['call']) => Model['call']} vouch
 * @returns {Model}
 */
function inProcessModel({ turns, onTurn }, vouch) {
  return {
    provider: 'in-process',
    name: modelName,
    quotaKey: 'in-process',
    capabilities: {
      tools: true,
      parallelToolCalls: true,
      structuredOutput: 'none',
      images: false,
      files: false,
      reasoningEffort: false,
      reasoningBudget: false,
      caching: 'none',
      sampling: [],
      continuation: 'none',
    },
    call: vouch(async (request, options) => {
      // Two messages open the conversation, and every turn adds two.
      const last = request.messages.length;
      const turn = Math.floor((last - (request.messages[0]?.role === 'system' ? 2 : 1)) / 2);
      onTurn(turn);
      return turn >= turns - 1 ? sayAnswer(options) : sayCall(turn, options);
    }),
  };
}

/**
 * @param {number} turn
 * @param {AttemptOptions | undefined} options
 * @returns {Promise<ModelResponse>}
 */
async function sayCall(turn, options) {
  const callId = `call_${turn}`;
  const argumentsText = argumentsOf(turn);
  await tell(options?.onPart, [
    { type: 'tool-call-started', callId, name: toolName },
    { type: 'tool-call-delta', callId, text: argumentsText },
    { type: 'tool-call-finished', callId },
    { type: 'usage', usage },
    { type: 'finished', finish: callFinish },
  ]);
  /** @type {import('../dist/model/index.js').ToolCallPart} */
  const call = { type: 'tool-call', callId, name: toolName, argumentsText };
  return {
    type: 'success',
    result: { content: [call], text: '', toolCalls: [call], finish: callFinish, usage },
  };
}

/**
 * @param {AttemptOptions | undefined} options
 * @returns {Promise<ModelResponse>}
 */
async function sayAnswer(options) {
  await tell(options?.onPart, [
    { type: 'text-delta', text: answer },
    { type: 'usage', usage },
    { type: 'finished', finish: answerFinish },
  ]);
  return {
    type: 'success',
    result: {
      content: [{ type: 'text', text: answer }],
      text: answer,
      toolCalls: [],
      finish: answerFinish,
      usage,
    },
  };
}

/**
 * Awaits a listener only where it asks for that.
 *
 * @param {AttemptOptions['onPart']} onPart
 * @param {readonly import('../dist/model/index.js').StreamPart[]} parts
 */
async function tell(onPart, parts) {
  if (onPart === undefined) return;
  for (const part of parts) {
    const heard = onPart(part);
    if (heard !== undefined) await heard;
  }
}
