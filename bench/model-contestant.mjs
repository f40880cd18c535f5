// One contestant of bench/model.mjs, in a process of its own: another library's garbage and types must not slow it down.
import { Agent, request as httpRequest } from 'node:http';

const [, , contestant = '', port = ''] = process.argv;
const key = 'bench-key-0123456789';
const prompt = 'Say a few words about nothing in particular.';

/** @param {number} pieces */
const baseOf = (pieces) => `http://127.0.0.1:${port}/${pieces}/v1`;
/** Written anew for each call, as every program does. */
const writeBody = () =>
  JSON.stringify({
    model: 'instant',
    messages: [{ role: 'user', content: prompt }],
    stream: true,
    stream_options: { include_usage: true },
  });
const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };

/** What every hand-written reader does: no bounds, no checks, no timeouts. */
function createReader() {
  const decoder = new TextDecoder();
  let rest = '';
  let text = '';
  return {
    /** @param {Uint8Array} bytes */
    push(bytes) {
      rest += decoder.decode(bytes, { stream: true });
      const events = rest.split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const data = event.slice('data: '.length);
        if (data === '[DONE]') continue;
        const chunk = /** @type {{ choices: { delta?: { content?: string } }[] }} */ (JSON.parse(data));
        text += chunk.choices[0]?.delta?.content ?? '';
      }
    },
    text: () => text,
  };
}

/** @param {number} pieces */
async function bareFetch(pieces) {
  const response = await fetch(`${baseOf(pieces)}/chat/completions`, {
    method: 'POST',
    headers,
    body: writeBody(),
  });
  const reader = createReader();
  const chunks = /** @type {AsyncIterable<Uint8Array>} */ (response.body);
  for await (const chunk of chunks) reader.push(chunk);
  return reader.text();
}

const agent = new Agent({ keepAlive: true });
/** @param {number} pieces */
function bareHttp(pieces) {
  return new Promise((resolve, reject) => {
    const url = `${baseOf(pieces)}/chat/completions`;
    const sent = httpRequest(url, { method: 'POST', headers, agent }, (response) => {
      const reader = createReader();
      response.on('data', (/** @type {Uint8Array} */ chunk) => reader.push(chunk));
      response.on('end', () => resolve(reader.text()));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(writeBody());
  });
}

// A contestant loads what it needs and nothing of the others.

async function createRerail() {
  const { callModel } = await import('../dist/model/index.js');
  const { openaiCompatible } = await import('../dist/providers/openai-compatible/index.js');
  const models = new Map(
    [4, 20_000, 200_000].map((pieces) => [
      pieces,
      openaiCompatible({ name: 'instant', baseURL: baseOf(pieces), apiKey: key })('instant'),
    ]),
  );
  /**
   * @param {number} pieces
   * @param {import('../dist/model/index.js').CallOptions} [options]
   */
  return async (pieces, options) => {
    const model = models.get(pieces);
    if (model === undefined) throw new Error('No such model');
    const outcome = await callModel(model, { messages: [{ role: 'user', content: prompt }] }, options);
    if (outcome.type === 'failure') throw new Error(outcome.failure.message);
    return outcome.result.text;
  };
}

async function createListening() {
  const call = await createRerail();
  return async (/** @type {number} */ pieces) => {
    let text = '';
    await call(pieces, { onEvent: (event) => void (event.type === 'text-delta' && (text += event.text)) });
    return text;
  };
}

async function createOpenaiSdk() {
  const { default: OpenAI } = await import('openai');
  return async (/** @type {number} */ pieces) => {
    const client = new OpenAI({ apiKey: key, baseURL: baseOf(pieces), maxRetries: 0 });
    const stream = await client.chat.completions.create({
      model: 'instant',
      messages: [{ role: 'user', content: prompt }],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? '';
    return text;
  };
}

async function createAiSdk() {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const { streamText } = await import('ai');
  return async (/** @type {number} */ pieces) => {
    const provider = createOpenAICompatible({ name: 'instant', apiKey: key, baseURL: baseOf(pieces) });
    const result = streamText({ model: provider('instant'), prompt, maxRetries: 0 });
    let text = '';
    for await (const delta of result.textStream) text += delta;
    return text;
  };
}

/** @type {Record<string, () => Promise<(pieces: number) => Promise<unknown>>>} */
const contestants = {
  'bare fetch': async () => bareFetch,
  'bare node:http': async () => bareHttp,
  'Rerail, all policies': createRerail,
  'Rerail, listening to events': createListening,
  'OpenAI SDK': createOpenaiSdk,
  'AI SDK streamText': createAiSdk,
};
const create = contestants[contestant];
if (create === undefined) throw new Error(`There is no contestant "${contestant}"`);
const run = await create();

/**
 * The most heap that a stream needs beyond what was there before, read ten times while it comes.
 *
 * @param {number} pieces
 */
async function peakHeap(pieces) {
  const call = await createRerail();
  if (globalThis.gc === undefined) throw new Error('Needs --expose-gc');
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  let peak = 0;
  let count = 0;
  await call(pieces, {
    onEvent: () => {
      count += 1;
      if (count % (pieces / 10) !== 0) return;
      globalThis.gc?.();
      peak = Math.max(peak, process.memoryUsage().heapUsed - before);
    },
  });
  return peak;
}

/**
 * CPU microseconds per call.
 *
 * @param {number} pieces
 * @param {number} calls
 */
async function measure(pieces, calls) {
  const expected = 'some words '.repeat(pieces);
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) {
    if ((await run(pieces)) !== expected) throw new Error(`${contestant} gave another text`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

process.on('message', (/** @type {{ pieces: number, calls: number }} */ { pieces, calls }) => {
  const work = calls === 0 ? peakHeap(pieces) : measure(pieces, calls);
  work.then(
    (figure) => process.send?.(figure),
    (/** @type {unknown} */ error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
