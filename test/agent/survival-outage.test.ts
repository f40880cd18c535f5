import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgent, tool } from '../../src/index.ts';
import type { RunOutcome, Tool } from '../../src/index.ts';
import { chaosProtocols, startChaosServer } from '../../src/chaos/index.ts';
import type { MindRequest } from '../../src/chaos/index.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import { chaosModel, expectSound, observed, play, ways } from './survival-stage.ts';
import type { Played } from './survival-stage.ts';

// An outage hits every run of the process at once. Patient runs wait for it together: one asks, the others wait for what it finds.

const runs = 20;
const done = 'All is done.';

function act(reached: () => void): Tool {
  return tool({
    name: 'act',
    description: 'Acts.',
    input: z.object({}),
    execute: () => {
      reached();
      return 'Acted.';
    },
  });
}

/** As many runs as there are, some in every way. */
function wayOf(index: number): (typeof ways)[number] {
  return ways[index % ways.length] ?? 'run';
}

function requestsOf(outcomes: readonly RunOutcome[]): number {
  return outcomes.reduce((sum, { usage }) => sum + usage.requests, 0);
}

describe.each(chaosProtocols)('P43 a total outage under twenty runs over %s', (protocol) => {
  it('costs few requests, and all of them complete when it is over', async () => {
    const outageRequests = 40;
    const server = await startChaosServer({
      model: ({ messages }: MindRequest) =>
        messages.some(({ role }) => role === 'tool') ? done : { toolCalls: [{ name: 'act', arguments: {} }] },
      // Every run has begun its first turn by then.
      faults: ({ sequence }) => (sequence > 10 && sequence <= 10 + outageRequests ? 'overloaded' : null),
    });
    let acted = 0;
    const breaker = { minAnswers: 10, failureShare: 0.9, window: 20, openMs: 10, maxOpenMs: 50 };
    try {
      const agent = createAgent({
        model: chaosModel(server, protocol),
        tools: [act(() => void (acted += 1))],
        gates: createGates({ policy: { breaker } }),
        policy: {
          retry: { maxAttempts: Infinity, baseDelayMs: 5, maxDelayMs: 20, minDelayMs: 1, deadlineMs: 50_000 },
        },
      });
      const ends = await observed(() =>
        Promise.all(
          Array.from({ length: runs }, (_, index) =>
            play(agent, { way: wayOf(index), input: `Task ${index}` }),
          ),
        ),
      );
      ends.forEach(expectSound);
      const outcomes = ends.map(({ outcome }) => outcome);
      expect(outcomes.filter(({ type }) => type === 'completed')).toHaveLength(runs);
      const { requests, faultsByName } = server.counters();
      expect(faultsByName).toEqual({ overloaded: outageRequests });
      // Two turns a run, and what the outage swallowed: nothing was sent twice for nothing.
      expect(requests).toBe(runs * 2 + outageRequests);
      expect(requestsOf(outcomes)).toBe(requests);
      expect(acted).toBe(runs);
    } finally {
      await server.close();
    }
  });
});

describe('P43 an outage of ten minutes under twenty runs, by the simulated clock', () => {
  async function outage(retry: 'patient' | 'standard'): Promise<{ ends: readonly Played[]; sent: number }> {
    const clock = simulatedClock();
    const outageMs = 600_000;
    const model = scriptedModel(
      () =>
        clock.monotonicMs() < outageMs
          ? { failure: 'SERVER_ERROR', delayMs: 50 }
          : { text: done, delayMs: 50 },
      {},
    );
    const agent = createAgent({
      model,
      clock,
      random: seededRandom(11),
      gates: createGates({ clock }),
      policy: { retry },
    });
    const all = Promise.all(
      Array.from({ length: runs }, (_, index) => play(agent, { way: wayOf(index), input: `Task ${index}` })),
    );
    const ends = await observed(() => clock.runUntil(all));
    expect(clock.pending()).toBe(0);
    return { ends, sent: model.calls.length };
  }

  it('is outwaited by patient runs, with few requests', async () => {
    const { ends, sent } = await outage('patient');
    ends.forEach(expectSound);
    expect(ends.map(({ outcome }) => outcome.type)).toEqual(Array.from({ length: runs }, () => 'completed'));
    // Twenty answers; the twenty that found it out, and then single probes, further and further apart.
    expect(sent).toBeLessThanOrEqual(runs * 3);
    expect(ends.every(({ outcome }) => outcome.recoveries.length > 0)).toBe(true);
  });

  it('ends others typed: with the moment when it makes sense to come back', async () => {
    const { ends, sent } = await outage('standard');
    ends.forEach(expectSound);
    for (const { outcome } of ends) expect(['failed', 'suspended']).toContain(outcome.type);
    expect(sent).toBeLessThanOrEqual(runs * 1.2 * 4);
  });
});

describe.each(ways)('fifty overloads in a row, begun by %s', (way) => {
  it('are outwaited by a patient run, each of them sent for once', async () => {
    const server = await startChaosServer({
      model: { script: [done] },
      faults: { script: Array.from({ length: 50 }, () => 'overloaded' as const) },
    });
    const breaker = { minAnswers: 10, failureShare: 0.9, window: 20, openMs: 2, maxOpenMs: 10 };
    try {
      const agent = createAgent({
        model: chaosModel(server, 'openai-responses'),
        gates: createGates({ policy: { breaker } }),
        policy: { retry: { maxAttempts: Infinity, baseDelayMs: 1, maxDelayMs: 5, minDelayMs: 1 } },
      });
      const played = await observed(() => play(agent, { way, input: 'Tell me.' }));
      expectSound(played);
      expect(played.outcome).toMatchObject({ type: 'completed', text: done });
      expect(played.outcome.recoveries).toHaveLength(50);
      expect(server.counters()).toMatchObject({ requests: 51, faultsByName: { overloaded: 50 } });
    } finally {
      await server.close();
    }
  });
});
