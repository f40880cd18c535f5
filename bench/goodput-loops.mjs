// What people write by hand, for bench/goodput.mjs: retries with backoff, jitter and Retry-After, and a timeout. Whoever knows what
// can go wrong also looks whether the answer is whole.
import {
  instructions,
  promptOf,
  stepJsonSchema,
  stepSchema,
  steps,
  toolDescriptionOf,
  toolNameOf,
} from './goodput-task.mjs';

/**
 * @typedef {{ id: string, type: 'function', function: { name: string, arguments: string } }} Call
 * @typedef {{ text: string, calls: Call[], finish: string | undefined }} Turn
 * @typedef {{
 *   error?: { message?: string },
 *   choices?: { delta?: {
 *     content?: string | null,
 *     tool_calls?: { index: number, id?: string, function?: { name?: string, arguments?: string } }[],
 *   }, finish_reason?: string | null }[],
 * }} Chunk
 */

const maxTurns = 50;
const tools = steps.map((step) => ({
  type: 'function',
  function: { name: toolNameOf(step), description: toolDescriptionOf(step), parameters: stepJsonSchema },
}));

/** @type {import('./goodput.mjs').Create} */
export const createExpert = async (given) => createLoop({ ...given, looksAtEnds: true });

/** @type {import('./goodput.mjs').Create} */
export const createUsual = async (given) => createLoop({ ...given, looksAtEnds: false });

/**
 * @param {Parameters<import('./goodput.mjs').Create>[0] & { looksAtEnds: boolean }} given
 * @returns {(task: number) => Promise<import('./goodput.mjs').Ending>}
 */
function createLoop({ baseURL, work, timeoutMs, retry, looksAtEnds }) {
  return async (task) => {
    /** @type {object[]} */
    const messages = [
      { role: 'system', content: instructions },
      { role: 'user', content: promptOf(task) },
    ];
    for (let turn = 0; turn < maxTurns; turn += 1) {
      const { text, calls } = await persist(() => ask({ baseURL, timeoutMs, messages, looksAtEnds }), retry);
      if (calls.length === 0) return { isCompleted: true, text, ending: 'completed' };
      messages.push({ role: 'assistant', content: text === '' ? null : text, tool_calls: calls });
      for (const call of calls) {
        messages.push({ role: 'tool', tool_call_id: call.id, content: perform(call, work) });
      }
    }
    return { isCompleted: false, text: '', ending: 'too many turns' };
  };
}

/**
 * @template Value
 * @param {() => Promise<Value>} attempt
 * @param {import('./goodput.mjs').Retry} retry
 */
async function persist(attempt, { maxAttempts, baseDelayMs, maxDelayMs, jitter }) {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      const { isFinal = false, waitMs = 0 } = error instanceof AskError ? error : {};
      if (isFinal || count >= maxAttempts) throw error;
      const ownMs = Math.min(maxDelayMs, baseDelayMs * 2 ** (count - 1));
      const delayMs = Math.max(waitMs, ownMs * (1 + jitter * (2 * Math.random() - 1)));
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}

class AskError extends Error {
  /**
   * @param {string} message
   * @param {{ isFinal?: boolean, waitMs?: number }} [facts]
   */
  constructor(message, { isFinal = false, waitMs = 0 } = {}) {
    super(message);
    this.isFinal = isFinal;
    this.waitMs = waitMs;
  }
}

const finalStatuses = new Set([400, 401, 403, 404, 413, 422]);

/** @param {{ baseURL: string, timeoutMs: number, messages: readonly object[], looksAtEnds: boolean }} request */
async function ask({ baseURL, timeoutMs, messages, looksAtEnds }) {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer bench-key' },
    body: JSON.stringify({ model: 'chaos', messages, tools, stream: true }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) {
    const { status, headers } = response;
    await response.body?.cancel();
    const waitMs = Number(headers.get('retry-after-ms') ?? Number(headers.get('retry-after') ?? 0) * 1000);
    throw new AskError(`Status ${status}`, {
      isFinal: finalStatuses.has(status),
      waitMs: Number.isFinite(waitMs) ? waitMs : 0,
    });
  }
  const turn = await read(/** @type {AsyncIterable<Uint8Array>} */ (response.body));
  if (!looksAtEnds) return turn;
  if (turn.finish === undefined) throw new AskError('The stream ended too early');
  if (turn.finish === 'length') throw new AskError('The answer was cut off');
  if (turn.text === '' && turn.calls.length === 0) throw new AskError('The answer is empty');
  return turn;
}

/** @param {AsyncIterable<Uint8Array>} chunks */
async function read(chunks) {
  const decoder = new TextDecoder();
  /** @type {Turn} */
  const turn = { text: '', calls: [], finish: undefined };
  let rest = '';
  for await (const bytes of chunks) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split(/\r\n|\n|\r/);
    rest = lines.pop() ?? '';
    for (const line of lines) take(turn, line);
  }
  take(turn, rest);
  return turn;
}

/**
 * @param {Turn} turn
 * @param {string} line
 */
function take(turn, line) {
  if (!line.startsWith('data:') || line.slice(5).trim() === '[DONE]') return;
  const { error, choices } = /** @type {Chunk} */ (JSON.parse(line.slice(5)));
  if (error !== undefined) throw new AskError(error.message ?? 'An error in the stream');
  const [choice] = choices ?? [];
  turn.text += choice?.delta?.content ?? '';
  turn.finish = choice?.finish_reason ?? turn.finish;
  for (const { index, id = '', function: piece } of choice?.delta?.tool_calls ?? []) {
    const call = (turn.calls[index] ??= { id, type: 'function', function: { name: '', arguments: '' } });
    call.function.name += piece?.name ?? '';
    call.function.arguments += piece?.arguments ?? '';
  }
}

/**
 * What the model is told; whatever goes wrong, it is told that.
 *
 * @param {Call} call
 * @param {import('./goodput.mjs').Work} work
 */
function perform({ function: { name, arguments: text } }, work) {
  const step = steps.find((known) => toolNameOf(known) === name);
  if (step === undefined) return `Error: there is no tool ${name}`;
  try {
    return work.perform(step, stepSchema.parse(JSON.parse(text)));
  } catch (error) {
    return `Error: ${String(error)}`;
  }
}
