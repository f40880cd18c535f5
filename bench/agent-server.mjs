// The other side of bench/agent.mjs, in a process of its own so that its CPU is not counted. `/5/50/v1/chat/completions` plays a
// conversation of five turns and waits 50 ms before each: one tool call in each turn, text in the last.
import { createServer } from 'node:http';
import { answer, argumentsOf, modelName, toolName } from './agent-task.mjs';

const base = { created: 1760000000, model: modelName };
const usage = { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 };

/**
 * Every answer has an id of its own: LangChain takes two messages with one id for the same.
 *
 * @param {string} id
 * @param {readonly object[]} chunks
 */
function streamOf(id, chunks) {
  const fields = { ...base, id, object: 'chat.completion.chunk' };
  const events = chunks.map((chunk) => `data: ${JSON.stringify({ ...fields, ...chunk })}\n\n`);
  return `${events.join('')}data: [DONE]\n\n`;
}

/**
 * @param {object} delta
 * @param {string | null} [finish]
 */
const chunkOf = (delta, finish = null) => ({ choices: [{ index: 0, delta, finish_reason: finish }] });

/**
 * The answer of one turn, as a stream and as a whole.
 *
 * @param {number} turn
 * @param {boolean} isLast
 */
function composeTurn(turn, isLast) {
  const call = {
    id: `call_${turn}`,
    type: 'function',
    function: { name: toolName, arguments: argumentsOf(turn) },
  };
  const message = isLast
    ? { role: 'assistant', content: answer }
    : { role: 'assistant', content: null, tool_calls: [call] };
  const finish = isLast ? 'stop' : 'tool_calls';
  const half = Math.floor(call.function.arguments.length / 2);
  const open = { ...call, index: 0, function: { ...call.function, arguments: '' } };
  /** @param {string} text */
  const more = (text) => chunkOf({ tool_calls: [{ index: 0, function: { arguments: text } }] });
  const content = isLast
    ? answer.split(/(?<= )/).map((word) => chunkOf({ content: word }))
    : [
        chunkOf({ tool_calls: [open] }),
        more(call.function.arguments.slice(0, half)),
        more(call.function.arguments.slice(half)),
      ];
  const id = `chatcmpl-${turn}`;
  return {
    stream: streamOf(id, [
      chunkOf({ role: 'assistant', content: isLast ? '' : null }),
      ...content,
      chunkOf({}, finish),
      { choices: [], usage },
    ]),
    whole: JSON.stringify({
      ...base,
      id,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: finish }],
      usage,
    }),
  };
}

/** @type {Map<string, ReturnType<typeof composeTurn>>} */
const composed = new Map();

/**
 * @param {number} turn
 * @param {boolean} isLast
 */
function turnOf(turn, isLast) {
  const name = `${turn} ${isLast}`;
  const known = composed.get(name) ?? composeTurn(turn, isLast);
  composed.set(name, known);
  return known;
}

const server = createServer((request, response) => {
  const [, turns = '', latencyMs = ''] = (request.url ?? '').split('/');
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (/** @type {Buffer} */ chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = /** @type {{ stream?: boolean, messages: { role: string }[] }} */ (
      JSON.parse(Buffer.concat(chunks).toString())
    );
    const turn = body.messages.reduce((count, { role }) => count + (role === 'tool' ? 1 : 0), 0);
    const { stream, whole } = turnOf(turn, turn >= Number(turns) - 1);
    const respond = () => {
      const type = body.stream === true ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type });
      response.end(body.stream === true ? stream : whole);
    };
    if (latencyMs === '0') respond();
    else setTimeout(respond, Number(latencyMs));
  });
});
server.keepAliveTimeout = 120_000;

server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.on('disconnect', () => process.exit(0));
