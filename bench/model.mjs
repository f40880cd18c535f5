// What a call through Rerail costs: npm run bench. CPU per call against a bare `fetch`, a bare `node:http` and two peers. Every
// contestant is a process of its own, they take turns, and the server is another one that answers at once.
import { fork } from 'node:child_process';
import { once } from 'node:events';

const server = fork(new URL('instant-server.mjs', import.meta.url), { execArgv: [] });
const port = String((await once(server, 'message'))[0]);

const names = [
  'bare fetch',
  'bare node:http',
  'Rerail, all policies',
  'Rerail, listening to events',
  'OpenAI SDK',
  'AI SDK streamText',
];
const contestants = new Map(
  names.map((name) => [
    name,
    fork(new URL('model-contestant.mjs', import.meta.url), [name, port], { execArgv: ['--expose-gc'] }),
  ]),
);

/**
 * @param {string} name
 * @param {{ pieces: number, calls: number }} task
 * @returns {Promise<number>}
 */
async function ask(name, task) {
  const child = contestants.get(name);
  if (child === undefined) throw new Error(`There is no contestant "${name}"`);
  const answer = once(child, 'message');
  child.send(task);
  return Number((await answer)[0]);
}

/**
 * CPU microseconds per call, the median of the rounds; contestants take turns, so that a slow minute hits all.
 *
 * @param {number} pieces
 * @param {{ calls: number, rounds: number }} load
 */
async function measure(pieces, { calls, rounds }) {
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -2; round < rounds; round += 1) {
    for (const name of names) {
      const time = await ask(name, { pieces, calls });
      // The first rounds warm up.
      if (round >= 0) times[name]?.push(time);
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

const heap = async (/** @type {number} */ pieces) => ask('Rerail, listening to events', { pieces, calls: 0 });
const [short, long] = [await heap(20_000), await heap(200_000)];
const textGrowth = (200_000 - 20_000) * 'some words '.length;
console.log('\nMemory while a stream comes, after collecting what is not needed');
console.log(`${'20,000 chunks'.padEnd(30)}${(short / 1e6).toFixed(2).padStart(9)} MB`);
console.log(`${'200,000 chunks'.padEnd(30)}${(long / 1e6).toFixed(2).padStart(9)} MB`);
console.log(`${'the text itself grows by'.padEnd(30)}${(textGrowth / 1e6).toFixed(2).padStart(9)} MB`);

console.log('\nBounds: one call at most 0.80 of fetch and 1.40 of http; the stream at most 1.50 of fetch.');
server.kill();
for (const child of contestants.values()) child.kill();
