import { describe, expect, it } from 'vitest';
import { startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosTurn, FaultEntry, MindRequest } from '../../src/chaos/index.ts';
import { createAgent, tool } from '../../src/index.ts';
import { anthropic } from '../../src/providers/anthropic/index.ts';
import { openaiCompatible } from '../../src/providers/openai-compatible/index.ts';
import { seededRandom } from '../../src/testing/index.ts';

// Tasks of five steps over real sockets, against a provider that refuses some requests as too long and breaks others. The model decides
// what comes next only by what it is shown: what was hidden from it, it does again.

const steps = [1, 2, 3, 4, 5] as const;
const filler = 'It was done as it was asked for, and nothing else was changed. '.repeat(30);
const tokenOf = (task: number, step: number): string =>
  `token-${task}-${step}-${(task * 7919 + step * 104_729) % 99_991}`;

/** Takes the next step that it cannot see to be done, whoever says so: a result, or a list of what was done. */
function think({ messages }: MindRequest): ChaosTurn {
  const text = JSON.stringify(messages);
  const task = Number(/Task (\d+):/u.exec(text)?.[1]);
  const done = steps.findLast((step) => text.includes(tokenOf(task, step))) ?? 0;
  if (done === steps.length) return { text: `The last token of task ${task} is ${tokenOf(task, done)}.` };
  return {
    text: 'The next step.',
    toolCalls: [{ name: `step_${done + 1}`, arguments: { task, after: tokenOf(task, done) } }],
  };
}

/** Two refusals as too long among ten faults: far more than in real life, so that few tasks show much. */
const faults: readonly FaultEntry[] = [
  'context-length',
  'context-length',
  { name: 'rate-limit', retryAfter: 0.001, form: 'ms' },
  'overloaded',
  'server-error',
  'gateway',
  'error-in-200',
  'reset-before-headers',
  'close-mid-stream',
  'missing-terminal',
];

interface Score {
  readonly completed: number;
  readonly wrong: number;
  readonly doubled: number;
  readonly refusals: number;
}

async function playTasks(protocol: 'openai-chat' | 'anthropic', rate: number, tasks: number): Promise<Score> {
  const asked = new Map<number, number>();
  let refusals = 0;
  // By task and by how often it has asked, so that it does not matter how the tasks overtake each other.
  const faultOf = (body: unknown): FaultEntry | null => {
    const text = JSON.stringify(body);
    const task = Number(/Task (\d+):/u.exec(text)?.[1]);
    const count = (asked.get(task) ?? 0) + 1;
    asked.set(task, count);
    const random = seededRandom(rate * 1_000_000_000 + task * 10_000 + count);
    // The first request of a task has nothing that could be cut, so it is always taken.
    if (!text.includes('token-') || random() >= rate) return null;
    const fault = faults[Math.floor(random() * faults.length)] ?? null;
    if (fault === 'context-length') refusals += 1;
    return fault;
  };
  const server = await startChaosServer({ seed: 5, faults: ({ body }) => faultOf(body), model: think });
  const counts = new Map<string, number>();
  const baseURL = server.baseURL(protocol);
  const agent = createAgent({
    model:
      protocol === 'anthropic'
        ? anthropic('chaos', { baseURL, apiKey: 'k' })
        : openaiCompatible({ name: 'chaos', baseURL, apiKey: 'k' })('chaos'),
    tools: steps.map((step) =>
      tool({
        name: `step_${step}`,
        description: `Does step ${step}.`,
        input: { type: 'object', properties: { task: { type: 'integer' }, after: { type: 'string' } } },
        effect: step % 2 === 0 ? 'idempotent' : 'once',
        execute: (input) => {
          const { task } = input as { readonly task: number };
          const name = `${task}/${step}`;
          counts.set(name, (counts.get(name) ?? 0) + 1);
          return `Step ${step} is done: ${tokenOf(task, step)}. ${filler}`;
        },
      }),
    ),
    policy: { retry: { maxAttempts: 12, baseDelayMs: 1, maxDelayMs: 5, minDelayMs: 0 } },
  });
  const ends = await Promise.all(
    Array.from({ length: tasks }, (_, task) => agent.run(`Task ${task}: do the five steps. ${filler}`)),
  );
  await server.close();
  const completed = ends.filter(({ type }) => type === 'completed');
  return {
    completed: completed.length,
    wrong: ends.filter((end, task) => end.type === 'completed' && !end.text.includes(tokenOf(task, 5)))
      .length,
    doubled: [...counts.values()].filter((count) => count > 1).length,
    refusals,
  };
}

describe('tasks whose provider refuses the conversation now and then', () => {
  it.each([
    { protocol: 'openai-chat', rate: 0.1, tasks: 60 },
    { protocol: 'openai-chat', rate: 0.3, tasks: 40 },
    { protocol: 'openai-chat', rate: 0.5, tasks: 30 },
    { protocol: 'anthropic', rate: 0.5, tasks: 30 },
  ] as const)(
    'do no step twice over $protocol at $rate',
    async ({ protocol, rate, tasks }) => {
      const { completed, wrong, doubled, refusals } = await playTasks(protocol, rate, tasks);
      expect({ wrong, doubled }).toEqual({ wrong: 0, doubled: 0 });
      expect(refusals).toBeGreaterThan(2);
      expect(completed / tasks).toBeGreaterThanOrEqual(0.9);
    },
    60_000,
  );
});
