// What a call through Rerail costs: npm run bench:model. CPU of this process per call, against a bare `fetch`, a bare
// `node:http` and two peers, interleaved in one run; the server is another process and answers at once.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { callModel } from '../dist/model/index.js';
import { openaiCompatible } from '../dist/providers/openai-compatible/index.js';

const server = fork(new URL('instant-server.mjs', import.meta.url), {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
const port = String((await once(server, 'message'))[0]);
const key = 'bench-key-0123456789';
const prompt = 'Say a few words about nothing in particular.';

/** @param {number} pieces */
const baseOf = (pieces) => `http://127.0.0.1:${port}/${pieces}/v1`;
const body = JSON.stringify({
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
  const response = await fetch(`${baseOf(pieces)}/chat/completions`, { method: 'POST', headers, body });
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
    sent.end(body);
  });
}

const models = new Map(
  [4, 20_000, 200_000].map((pieces) => [
    pieces,
    openaiCompatible({ name: 'instant', baseURL: baseOf(pieces), apiKey: key })('instant'),
  ]),
);
/** @param {number} pieces */
async function rerail(pieces) {
  const model = models.get(pieces);
  if (model === undefined) throw new Error('No such model');
  const outcome = await callModel(model, { messages: [{ role: 'user', content: prompt }] });
  if (outcome.type === 'failure') throw new Error(outcome.failure.message);
  return outcome.result.text;
}

/** @param {number} pieces */
async function rerailListening(pieces) {
  const model = models.get(pieces);
  if (model === undefined) throw new Error('No such model');
  let text = '';
  const outcome = await callModel(
    model,
    { messages: [{ role: 'user', content: prompt }] },
    { onEvent: (event) => void (event.type === 'text-delta' && (text += event.text)) },
  );
  if (outcome.type === 'failure') throw new Error(outcome.failure.message);
  return text;
}

/** @param {number} pieces */
async function openaiSdk(pieces) {
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
}

/** @param {number} pieces */
async function aiSdk(pieces) {
  const provider = createOpenAICompatible({ name: 'instant', apiKey: key, baseURL: baseOf(pieces) });
  const result = streamText({ model: provider('instant'), prompt, maxRetries: 0 });
  let text = '';
  for await (const delta of result.textStream) text += delta;
  return text;
}

/** @type {Record<string, (pieces: number) => Promise<unknown>>} */
const contestants = {
  'bare fetch': bareFetch,
  'bare node:http': bareHttp,
  'Rerail, all policies': rerail,
  'Rerail, listening to events': rerailListening,
  'OpenAI SDK': openaiSdk,
  'AI SDK streamText': aiSdk,
};

/**
 * CPU microseconds per call, the median of the rounds; contestants take turns, so that a slow minute hits all.
 *
 * @param {number} pieces
 * @param {{ calls: number, rounds: number }} load
 */
async function measure(pieces, { calls, rounds }) {
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  const expected = 'some words '.repeat(pieces);
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(contestants)) {
      const before = process.cpuUsage();
      for (let call = 0; call < calls; call += 1) {
        if ((await run(pieces)) !== expected) throw new Error(`${name} gave another text`);
      }
      const { user, system } = process.cpuUsage(before);
      // The first round warms up.
      if (round >= 0) times[name]?.push((user + system) / calls);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
}

/** @param {readonly number[]} list */
function median(list) {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;
}

/**
 * @param {string} title
 * @param {Record<string, number>} times
 */
function print(title, times) {
  const [byFetch, byHttp] = [times['bare fetch'] ?? Number.NaN, times['bare node:http'] ?? Number.NaN];
  console.log(`\n${title}`);
  console.log(`${''.padEnd(30)}${'CPU'.padStart(12)}${'of fetch'.padStart(10)}${'of http'.padStart(10)}`);
  for (const [name, time] of Object.entries(times)) {
    const cpu = time > 10_000 ? `${(time / 1000).toFixed(1)} ms` : `${time.toFixed(0)} µs`;
    const ratios = [time / byFetch, time / byHttp].map((ratio) => ratio.toFixed(2).padStart(10)).join('');
    console.log(`${name.padEnd(30)}${cpu.padStart(12)}${ratios}`);
  }
}

print('One call, four pieces of text', await measure(4, { calls: 300, rounds: 15 }));
print('One stream of 20,000 chunks', await measure(20_000, { calls: 1, rounds: 15 }));
/**
 * The most heap that a stream needs beyond what was there before, read ten times while it comes.
 *
 * @param {number} pieces
 */
async function peakHeap(pieces) {
  const model = models.get(pieces);
  if (model === undefined || globalThis.gc === undefined) return Number.NaN;
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  let peak = 0;
  let count = 0;
  await callModel(
    model,
    { messages: [{ role: 'user', content: prompt }] },
    {
      onEvent: () => {
        count += 1;
        if (count % (pieces / 10) !== 0) return;
        globalThis.gc?.();
        peak = Math.max(peak, process.memoryUsage().heapUsed - before);
      },
    },
  );
  return peak;
}

const [short, long] = [await peakHeap(20_000), await peakHeap(200_000)];
const textGrowth = (200_000 - 20_000) * 'some words '.length;
console.log('\nMemory while a stream comes, after collecting what is not needed');
console.log(`${'20,000 chunks'.padEnd(30)}${(short / 1e6).toFixed(2).padStart(9)} MB`);
console.log(`${'200,000 chunks'.padEnd(30)}${(long / 1e6).toFixed(2).padStart(9)} MB`);
console.log(`${'the text itself grows by'.padEnd(30)}${(textGrowth / 1e6).toFixed(2).padStart(9)} MB`);

console.log('\nBounds: one call at most 0.80 of fetch and 1.40 of http; the stream at most 1.50 of fetch.');
server.kill();
