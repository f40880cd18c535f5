// The hand-written agents of bench/agent.mjs: streaming, tools, and no checks, no retries, no timeouts.
import { Agent, request as httpRequest } from 'node:http';
import {
  answer,
  argumentsOf,
  instructions,
  key,
  lookUp,
  modelName,
  prompt,
  toolDescription,
  toolJsonSchema,
  toolName,
} from './agent-task.mjs';

/**
 * @typedef {{ id: string, type: 'function', function: { name: string, arguments: string } }} Call
 * @typedef {{ text: string, calls: Call[] }} Turn
 * @typedef {{ choices: { delta?: {
 *   content?: string | null,
 *   tool_calls?: { index: number, id?: string, function?: { name?: string, arguments?: string } }[],
 * } }[] }} Chunk
 */

const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
const tools = [
  {
    type: 'function',
    function: { name: toolName, description: toolDescription, parameters: toolJsonSchema },
  },
];

/** @param {readonly object[]} messages */
const writeBody = (messages) =>
  JSON.stringify({
    model: modelName,
    messages,
    tools,
    stream: true,
    stream_options: { include_usage: true },
  });

function createReader() {
  const decoder = new TextDecoder();
  let rest = '';
  /** @type {Turn} */
  const turn = { text: '', calls: [] };
  return {
    turn,
    /** @param {Uint8Array} bytes */
    push(bytes) {
      rest += decoder.decode(bytes, { stream: true });
      const events = rest.split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const data = event.slice('data: '.length);
        if (data !== '[DONE]') take(turn, /** @type {Chunk} */ (JSON.parse(data)));
      }
    },
  };
}

/**
 * @param {Turn} turn
 * @param {Chunk} chunk
 */
function take(turn, { choices }) {
  const delta = choices[0]?.delta;
  turn.text += delta?.content ?? '';
  for (const { index, id = '', function: piece } of delta?.tool_calls ?? []) {
    const call = (turn.calls[index] ??= { id, type: 'function', function: { name: '', arguments: '' } });
    call.function.name += piece?.name ?? '';
    call.function.arguments += piece?.arguments ?? '';
  }
}

/** @typedef {(messages: readonly object[]) => Promise<Turn> | Turn} Ask */

/**
 * The loop, for any way to ask.
 *
 * @param {Ask} ask
 */
async function converse(ask) {
  /** @type {object[]} */
  const messages = [
    { role: 'system', content: instructions },
    { role: 'user', content: prompt },
  ];
  for (;;) {
    const { text, calls } = await ask(messages);
    if (calls.length === 0) return text;
    messages.push({ role: 'assistant', content: null, tool_calls: calls });
    for (const call of calls) {
      const input = /** @type {{ query: string }} */ (JSON.parse(call.function.arguments));
      messages.push({ role: 'tool', tool_call_id: call.id, content: lookUp(input) });
    }
  }
}

/** @type {import('./agent-task.mjs').Contestant} */
export const bareFetch = {
  served: ({ baseURL }) => {
    const url = `${baseURL}/chat/completions`;
    return () =>
      converse(async (messages) => {
        const response = await fetch(url, { method: 'POST', headers, body: writeBody(messages) });
        const reader = createReader();
        const chunks = /** @type {AsyncIterable<Uint8Array>} */ (response.body);
        for await (const chunk of chunks) reader.push(chunk);
        return reader.turn;
      });
  },
};

/** @type {import('./agent-task.mjs').Contestant} */
export const bareHttp = {
  served: ({ baseURL }) => {
    const url = `${baseURL}/chat/completions`;
    const agent = new Agent({ keepAlive: true });
    /** @type {(messages: readonly object[]) => Promise<Turn>} */
    const ask = (messages) =>
      new Promise((resolve, reject) => {
        const sent = httpRequest(url, { method: 'POST', headers, agent }, (response) => {
          const reader = createReader();
          response.on('data', (/** @type {Uint8Array} */ chunk) => reader.push(chunk));
          response.on('end', () => resolve(reader.turn));
          response.on('error', reject);
        });
        sent.on('error', reject);
        sent.end(writeBody(messages));
      });
    return () => converse(ask);
  },
};

/** The floor: what the loop itself costs when nothing is sent anywhere. @type {import('./agent-task.mjs').Contestant} */
export const bareLoop = {
  inProcess:
    ({ turns, onTurn }) =>
    () => {
      let turn = -1;
      return converse(() => {
        turn += 1;
        onTurn(turn);
        if (turn >= turns - 1) return { text: answer, calls: [] };
        const call = { name: toolName, arguments: argumentsOf(turn) };
        return { text: '', calls: [{ id: `call_${turn}`, type: 'function', function: call }] };
      });
    },
};
