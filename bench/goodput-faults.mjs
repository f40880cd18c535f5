// Which requests of bench/goodput.mjs go wrong, and how: all that a provider does to a good request and that may pass.
import { seededRandom } from '../dist/testing/index.js';

/** @typedef {import('../dist/chaos/index.js').FaultEntry} FaultEntry */

/**
 * All that the chaos server draws by itself, and more. Left out, for no retry helps: a wrong key, no credit, no such model, a
 * prompt that is blocked, a refusal, a redirect, a packing that nobody can read. Left out as well: events that come
 * twice or in the wrong order, which nobody can notice in this protocol.
 *
 * @type {readonly FaultEntry[]}
 */
const faults = [
  { name: 'rate-limit', retryAfter: 0.05, form: 'ms' },
  'overloaded',
  'server-error',
  'model-loading',
  // It passes when the conversation is shorter, and what was done before must not be done again.
  'context-length',
  'gateway',
  { name: 'gateway', status: 503 },
  { name: 'gateway', status: 504 },
  { name: 'status', status: 529 },
  'error-in-200',
  { name: 'error-in-200', error: 'server-error' },
  'wrong-content-type',
  'header-hang',
  'silence-after-headers',
  'silence-mid-stream',
  { name: 'endless-keepalive', everyMs: 50 },
  'reset-before-headers',
  'close-before-headers',
  'reset-mid-stream',
  'close-mid-stream',
  'close-short-of-length',
  'close-without-length',
  'garbage-http',
  'bad-chunk-size',
  'huge-header',
  'gzip-truncated',
  'gzip-garbage',
  'missing-terminal',
  'error-in-stream',
  { name: 'error-in-stream', error: 'server-error' },
  'invalid-json-event',
  'empty-answer',
  'cut-off-answer',
  'cut-off-tool-call',
  'bad-tool-arguments',
  { name: 'bad-tool-arguments', kind: 'trailing' },
  { name: 'bad-tool-arguments', kind: 'types' },
  { name: 'bad-tool-arguments', kind: 'empty' },
  'truncated-tool-arguments',
  'unknown-tool',
  'tool-loop',
  { name: 'gzip-bomb', megabytes: 20 },
  { name: 'giant-event', megabytes: 8 },
];

/** Odd, but good: whoever stumbles over one of these loses a good answer. @type {readonly FaultEntry[]} */
const oddities = [
  'crlf',
  'bom',
  'comments',
  'multiline-data',
  'missing-final-blank-line',
  'split',
  'usage-missing',
  'usage-nonsense',
  'bad-finish-reason',
  { name: 'missing-terminal', which: 'last' },
  { name: 'slow-drip', bytes: 100, everyMs: 5 },
];
const shareOfOddities = 0.1;

/**
 * Draws by the seed, the task and how often that task has asked: so the same requests of every contestant go wrong, however
 * the tasks overtake each other.
 *
 * @param {{ rate: number, seed: number }} options
 */
export function createFaults({ rate, seed }) {
  /** @type {Map<number, number>} */
  const asked = new Map();
  return {
    /**
     * @param {import('../dist/chaos/index.js').RequestInfo} request
     * @returns {FaultEntry | null}
     */
    faultOf({ body }) {
      const task = Number(/Task (\d+):/.exec(JSON.stringify(body))?.[1]);
      const count = asked.get(task) ?? 0;
      asked.set(task, count + 1);
      if (rate === 0) return null;
      const random = seededRandom(seed * 1_000_000_000 + task * 10_000 + count);
      const draw = random();
      if (draw < rate) return pick(faults, random);
      return draw < rate + (1 - rate) * shareOfOddities ? pick(oddities, random) : null;
    },
  };
}

/**
 * @param {readonly FaultEntry[]} list
 * @param {() => number} random
 */
function pick(list, random) {
  return list[Math.floor(random() * list.length)] ?? null;
}
