import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { callModel, createGates } from '../../src/model/index.ts';
import type { CallEvent, Model } from '../../src/model/index.ts';
import { startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosServer, FaultEntry, RequestInfo } from '../../src/chaos/index.ts';
import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/system.ts';
import { anthropic } from '../../src/providers/anthropic/index.ts';
import { openai } from '../../src/providers/openai/index.ts';
import { showText } from './play.ts';

// The sixteen faults of the public failover bench, over real sockets, with two models and every setting at its default. The clock runs
// five times as fast as a real one, and so do the servers: all times below are those of the clock.

const pace = 5;
const fastClock: Clock = {
  wallMs: systemClock.wallMs,
  monotonicMs: () => systemClock.monotonicMs() * pace,
  after: (delayMs, callback) => systemClock.after(delayMs / pace, callback),
};

const answer =
  'One answer that is long enough to be cut in two thirds of it, from its first word up to and including its very last one.';
const question = { messages: [{ role: 'user', content: 'Tell me.' }] } as const;

interface Fault {
  readonly name: string;
  /** What the first model does with every request, or with the first only. */
  readonly fault?: FaultEntry;
  readonly isOnce?: true;
  /** Of the first model, before every answer. */
  readonly latencyMs?: number;
  readonly withinMs: number;
  /** How often the first model is asked at most. */
  readonly maxRequests: number;
  readonly isRefused?: true;
}

const faults: readonly Fault[] = [
  {
    name: 'S01 429 with Retry-After: 2',
    fault: { name: 'rate-limit', retryAfter: 2 },
    isOnce: true,
    withinMs: 6000,
    maxRequests: 2,
  },
  { name: 'S02 429 for ever', fault: { name: 'status', status: 429 }, withinMs: 15_000, maxRequests: 4 },
  { name: 'S03 one 500', fault: 'server-error', isOnce: true, withinMs: 4000, maxRequests: 2 },
  { name: 'S04 503 for ever', fault: { name: 'gateway', status: 503 }, withinMs: 15_000, maxRequests: 4 },
  {
    name: 'S05 reset before headers',
    fault: 'reset-before-headers',
    isOnce: true,
    withinMs: 4000,
    maxRequests: 2,
  },
  { name: 'S06 no response', fault: 'header-hang', withinMs: 36_000, maxRequests: 1 },
  { name: 'S07 first token after 20 s', latencyMs: 20_000, withinMs: 26_000, maxRequests: 1 },
  {
    name: 'S08 stream cut after two thirds',
    fault: 'close-mid-stream',
    isOnce: true,
    withinMs: 4000,
    maxRequests: 2,
  },
  { name: 'S09 stream stalls', fault: 'silence-mid-stream', withinMs: 36_000, maxRequests: 1 },
  {
    name: 'S10 malformed event in the stream',
    fault: 'invalid-json-event',
    isOnce: true,
    withinMs: 4000,
    maxRequests: 2,
  },
  { name: 'S11 no [DONE]', fault: 'missing-terminal', withinMs: 15_000, maxRequests: 4 },
  { name: 'S12 context length', fault: 'context-length', withinMs: 4000, maxRequests: 1 },
  // A refusal of the content is not asked of somebody else unless the caller says so, and never asked again.
  { name: 'S13 content policy', fault: 'content-filter', withinMs: 4000, maxRequests: 1, isRefused: true },
  {
    name: 'S14 stream cut, and a fallback that refuses prefill',
    fault: 'close-mid-stream',
    withinMs: 15_000,
    maxRequests: 4,
  },
  { name: 'S16 overloaded', fault: 'overloaded', withinMs: 15_000, maxRequests: 4 },
];

interface Stage {
  readonly first: ChaosServer;
  readonly second: ChaosServer;
  readonly models: readonly [Model, Model];
}

const apiKey = 'test-key-0123456789';

async function onStage<Value>(
  { fault, isOnce, latencyMs = 0 }: Pick<Fault, 'fault' | 'isOnce' | 'latencyMs'>,
  play: (stage: Stage) => Promise<Value>,
): Promise<Value> {
  const first = await startChaosServer({
    model: () => answer,
    latencyMs: latencyMs / pace,
    faults: ({ sequence }) => (isOnce === true && sequence > 1 ? null : (fault ?? null)),
  });
  const second = await startChaosServer({ model: () => answer, faults: refusePrefill });
  const models = [
    anthropic('claude-sonnet-4-5', { apiKey, baseURL: first.baseURL('anthropic') }),
    openai('gpt-5.4', { apiKey, api: 'chat', baseURL: second.baseURL('openai-chat') }),
  ] as const;
  try {
    return await play({ first, second, models });
  } finally {
    await Promise.all([first.close(), second.close()]);
  }
}

/** As many servers do that do not continue an answer somebody else began. */
function refusePrefill({ body }: RequestInfo): FaultEntry | null {
  const { messages = [] } = body as { readonly messages?: readonly { readonly role?: string }[] };
  return messages.at(-1)?.role === 'assistant' ? 'bad-request' : null;
}

const cases = faults.flatMap((fault) =>
  (['callModel', 'createAgent'] as const).map((way) => ({ ...fault, way })),
);

describe('the sixteen faults, with two models and default settings', () => {
  it.concurrent.each(cases)('$name, by $way', { timeout: 60_000 }, async ({ way, ...row }) => {
    const { end, shown, tookMs, requests } = await onStage(row, async ({ first, models }) => {
      const startMs = fastClock.monotonicMs();
      const played = await (way === 'callModel' ? playCall(models) : playAgent(models));
      return { ...played, tookMs: fastClock.monotonicMs() - startMs, requests: first.counters().requests };
    });
    expect(end).toEqual(row.isRefused === true ? { code: 'CONTENT_FILTERED' } : { text: answer });
    expect(shown).toBe(row.isRefused === true ? '' : answer);
    expect(requests).toBeLessThanOrEqual(row.maxRequests);
    expect(tookMs).toBeLessThanOrEqual(row.withinMs);
  });

  it.concurrent(
    'S15 an outage of 60 s under steady traffic, then recovery: at most 15 requests to the dead model in 20 calls',
    { timeout: 60_000 },
    async () => {
      await onStage({}, async ({ first, models }) => {
        const gates = createGates({ clock: fastClock });
        first.setFaults({ script: ['server-error'], repeat: true });
        const startMs = fastClock.monotonicMs();
        const calls = Array.from({ length: 20 }, async (_, index) => {
          await wait(index * 3000);
          return callModel(models, question, { clock: fastClock, gates });
        });
        const outcomes = await Promise.all(calls);
        expect(outcomes.map(({ type }) => type)).toEqual(Array.from({ length: 20 }, () => 'success'));
        expect(first.counters().requests).toBeLessThanOrEqual(15);
        await wait(Math.max(0, startMs + 60_000 - fastClock.monotonicMs()));
        first.setFaults(undefined);
        // The longest pause between two probes by then.
        await wait(40_000);
        const before = first.counters().requests;
        expect(await callModel(models, question, { clock: fastClock, gates })).toMatchObject({
          type: 'success',
        });
        expect(first.counters().requests).toBe(before + 1);
      });
    },
  );
});

type End = { readonly text: string } | { readonly code: string };

async function playCall(models: readonly Model[]): Promise<{ readonly end: End; readonly shown: string }> {
  const events: CallEvent[] = [];
  const outcome = await callModel(models, question, {
    clock: fastClock,
    gates: createGates({ clock: fastClock }),
    onEvent: (event) => void events.push(event),
  });
  const end = outcome.type === 'success' ? { text: outcome.result.text } : { code: outcome.failure.code };
  return { end, shown: showText(events) };
}

async function playAgent(models: readonly Model[]): Promise<{ readonly end: End; readonly shown: string }> {
  const agent = createAgent({ model: models, clock: fastClock, gates: createGates({ clock: fastClock }) });
  const stream = agent.stream('Tell me.');
  let shown = '';
  for await (const event of stream) {
    if (event.type === 'text-delta') shown += event.text;
    if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
  }
  const outcome = await stream.outcome;
  if (outcome.type === 'completed') return { end: { text: outcome.text }, shown };
  return {
    end: { code: 'failure' in outcome ? (outcome.failure?.code ?? outcome.type) : outcome.type },
    shown,
  };
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => void fastClock.after(ms, resolve));
