import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgent, tool } from '../../src/index.ts';
import type { Agent, AgentOptions, RunAnswer, RunEvent, RunOutcome } from '../../src/index.ts';
import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/system.ts';
import { chaosProtocols, startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosProtocol, ChaosServer, ChaosTurn, FaultEntry } from '../../src/chaos/index.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import {
  chaosModel,
  deadlineMs,
  expectSound,
  observed,
  play,
  quickRetry,
  shownText,
  ways,
} from './survival-stage.ts';
import type { Way } from './survival-stage.ts';

// Runs that wait outside the process, and go on: over real sockets, begun in every way.

const answer = 'Here is the answer that took its time.';

interface Stage {
  readonly server: ChaosServer;
  readonly agent: Agent;
  /** Moves all clocks of the agent but its timers. */
  readonly pass: (ms: number) => void;
  readonly clock: Clock;
}

interface Setting {
  readonly protocol: ChaosProtocol;
  readonly script?: readonly (string | ChaosTurn)[];
  readonly fault?: FaultEntry;
  readonly options?: Partial<AgentOptions>;
}

async function withStage(setting: Setting, look: (stage: Stage) => Promise<void>): Promise<void> {
  const { protocol, script = [answer], fault, options } = setting;
  const server = await startChaosServer({
    model: { script },
    ...(fault === undefined ? {} : { faults: { script: [fault], repeat: true } }),
  });
  let passedMs = 0;
  const clock: Clock = {
    wallMs: () => systemClock.wallMs() + passedMs,
    monotonicMs: () => systemClock.monotonicMs() + passedMs,
    after: systemClock.after,
  };
  try {
    const agent = createAgent({
      model: chaosModel(server, protocol),
      policy: { retry: quickRetry },
      limits: { timeoutMs: deadlineMs },
      clock,
      gates: createGates({ clock }),
      ...options,
    });
    const pass = (ms: number): void => void (passedMs += ms);
    await observed(() => look({ server, agent, pass, clock }));
  } finally {
    await server.close();
  }
}

/** Begins a run in one of the ways; it must wait. */
async function begin(agent: Agent, way: Way): Promise<Extract<RunOutcome, { type: 'suspended' }>> {
  const played = await play(agent, { way, input: 'Tell me.' });
  expectSound(played);
  const { outcome } = played;
  if (outcome.type !== 'suspended') throw new Error(`The run is ${outcome.type}`);
  return outcome;
}

async function goOn(agent: Agent, runId: string, given?: RunAnswer): Promise<RunOutcome> {
  const events: RunEvent[] = [];
  const startMs = performance.now();
  const outcome = await agent.resume(runId, {
    ...(given === undefined ? {} : { answer: given }),
    onEvent: (event) => void events.push(event),
  });
  expectSound({ outcome, events, answer: undefined, tookMs: performance.now() - startMs });
  return outcome;
}

const scenes = chaosProtocols.flatMap((protocol) => ways.map((way) => ({ protocol, way })));

describe.each(scenes)('begun by $way over $protocol', ({ protocol, way }) => {
  it('Retry-After: 90 is waited for: not a request before, and the answer after', async () => {
    await withStage({ protocol, fault: { name: 'rate-limit', retryAfter: 90 } }, async (stage) => {
      const { agent, server, pass, clock } = stage;
      const beforeMs = clock.wallMs();
      const { runId, resumeAt = 0, reason } = await begin(agent, way);
      expect(reason).toBe('long-wait');
      // To the second: the server says it in whole seconds.
      expect(resumeAt).toBeGreaterThanOrEqual(beforeMs + 90_000);
      expect(resumeAt).toBeLessThanOrEqual(clock.wallMs() + 95_000);
      server.setFaults(undefined);

      pass(80_000);
      expect(await goOn(agent, runId)).toMatchObject({ type: 'suspended', reason: 'long-wait', resumeAt });
      expect(server.counters().requests).toBe(1);

      pass(15_000);
      expect(await goOn(agent, runId)).toMatchObject({ type: 'completed', text: answer });
      expect(server.counters()).toMatchObject({ requests: 2, faultsByName: { 'rate-limit': 1 } });

      // A second resume changes nothing.
      expect(await agent.resume(runId)).toMatchObject({ type: 'completed', text: answer });
      expect(server.counters().requests).toBe(2);
    });
  });

  it.each([
    { fault: 'quota', reason: 'credit', code: 'QUOTA_EXCEEDED' },
    { fault: 'auth', reason: 'credentials', code: 'AUTHENTICATION_ERROR' },
    { fault: 'forbidden', reason: 'credentials', code: 'PERMISSION_DENIED' },
    { fault: 'model-not-found', reason: 'credentials', code: 'MODEL_NOT_FOUND' },
  ] as const)('$fault: one request, and the answer once it is mended', async ({ fault, reason, code }) => {
    await withStage({ protocol, fault }, async ({ agent, server }) => {
      const suspended = await begin(agent, way);
      expect(suspended).toMatchObject({ reason, failure: { code }, request: { type: 'mend' } });
      expect(server.counters()).toMatchObject({ requests: 1, faultsByName: { [fault]: 1 } });

      // Nothing was mended: it says the same again, after one more request.
      expect(await goOn(agent, suspended.runId)).toMatchObject({ type: 'suspended', reason });
      expect(server.counters().requests).toBe(2);

      server.setFaults(undefined);
      const outcome = await goOn(agent, suspended.runId);
      expect(outcome).toMatchObject({ type: 'completed', text: answer });
      expect(outcome.recoveries.map(({ failure, recovery }) => [failure.code, recovery])).toEqual([
        [code, 'suspend'],
        [code, 'suspend'],
      ]);
      expect(server.counters().requests).toBe(3);
    });
  });
});

describe.each(ways)('a deaf payment, begun by %s', (way) => {
  const pay: ChaosTurn = { toolCalls: [{ name: 'pay', arguments: { cents: 5 } }] };

  async function inDoubt(
    look: (stage: Stage & { readonly runId: string; readonly paid: readonly number[] }) => Promise<void>,
  ): Promise<void> {
    const paid: number[] = [];
    const deaf = tool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ cents: z.number() }),
      timeoutMs: 50,
      execute: ({ cents }) => {
        paid.push(cents);
        return paid.length === 1 ? new Promise(() => undefined) : 'Paid now.';
      },
    });
    const setting: Setting = { protocol: 'anthropic', script: [pay, answer], options: { tools: [deaf] } };
    await withStage(setting, async (stage) => {
      const { runId, reason, request } = await begin(stage.agent, way);
      expect({ reason, request }).toMatchObject({
        reason: 'in-doubt',
        request: { tool: 'pay', input: { cents: 5 } },
      });
      await look({ ...stage, runId, paid });
    });
  }

  it('is not made again where a person found that it happened', async () => {
    await inDoubt(async ({ agent, runId, paid, server }) => {
      const outcome = await goOn(agent, runId, { happened: true, result: 'Receipt 17' });
      expect(outcome).toMatchObject({ type: 'completed', text: answer });
      expect(JSON.stringify(outcome.messages)).toContain('Receipt 17');
      expect(paid).toEqual([5]);
      expect(server.counters().requests).toBe(2);
    });
  });

  it('is made where a person found that it did not happen', async () => {
    await inDoubt(async ({ agent, runId, paid }) => {
      const outcome = await goOn(agent, runId, { happened: false });
      expect(outcome).toMatchObject({ type: 'completed', text: answer });
      expect(JSON.stringify(outcome.messages)).toContain('Paid now.');
      expect(paid).toEqual([5, 5]);
    });
  });

  it('stays in doubt without an answer, and nothing is sent', async () => {
    await inDoubt(async ({ agent, runId, paid, server }) => {
      expect(await goOn(agent, runId)).toMatchObject({ type: 'suspended', reason: 'in-doubt' });
      expect(server.counters().requests).toBe(1);
      expect(paid).toEqual([5]);
    });
  });

  it('can be cancelled, and says so to whoever reads the conversation', async () => {
    await inDoubt(async ({ agent, runId, paid }) => {
      await agent.cancel(runId);
      const outcome = await agent.run('Tell me.', { runId });
      expect(outcome.type).toBe('cancelled');
      expect(JSON.stringify(outcome.messages)).toContain('may or may not have happened');
      expect(paid).toEqual([5]);
    });
  });
});

describe.each(ways)('a run that is cancelled, begun by %s,', (way) => {
  it('in the middle of an answer ends at once, and its half text is no answer', async () => {
    const fault = 'silence-mid-stream';
    await withStage({ protocol: 'openai-chat', fault }, async ({ agent, server }) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 150);
      const played = await play(agent, { way, input: 'Tell me.', signal: controller.signal });
      expectSound(played);
      expect(played.outcome.type).toBe('cancelled');
      expect(played.tookMs).toBeLessThan(1150 + 1000);
      expect(server.counters()).toMatchObject({ requests: 1, faultsByName: { [fault]: 1 } });

      server.setFaults(undefined);
      const outcome = await goOn(agent, played.outcome.runId);
      expect(outcome).toMatchObject({ type: 'completed', text: answer });
    });
  });

  it('while deaf tools run ends at once, and every call has a true result', async () => {
    const deaf = tool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ cents: z.number() }),
      execute: () => new Promise(() => undefined),
    });
    const pay = { name: 'pay', arguments: { cents: 5 } };
    const script = [{ toolCalls: [pay, pay] }, answer];
    await withStage(
      { protocol: 'anthropic', script, options: { tools: [deaf] } },
      async ({ agent, server }) => {
        const controller = new AbortController();
        setTimeout(() => controller.abort(), 150);
        const played = await play(agent, { way, input: 'Tell me.', signal: controller.signal });
        expectSound(played);
        expect(played.outcome.type).toBe('cancelled');
        expect(played.tookMs).toBeLessThan(1150 + 1000);
        expect(JSON.stringify(played.outcome.messages).match(/may or may not have happened/g)).toHaveLength(
          2,
        );

        // Whether each of them happened is asked first. The conversation goes on from there, and the server takes it.
        const { runId } = played.outcome;
        const asked = { type: 'suspended', reason: 'in-doubt' };
        expect(await goOn(agent, runId)).toMatchObject(asked);
        expect(await goOn(agent, runId, 'happened')).toMatchObject(asked);
        expect(await goOn(agent, runId, 'happened')).toMatchObject({ type: 'completed', text: answer });
        expect(server.counters().requests).toBe(2);
      },
    );
  });

  it('while it waits for a retry ends at once', async () => {
    const options = { policy: { retry: { baseDelayMs: 10_000 } } };
    await withStage({ protocol: 'gemini', fault: 'overloaded', options }, async ({ agent, server }) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 150);
      const played = await play(agent, { way, input: 'Tell me.', signal: controller.signal });
      expectSound(played);
      expect(played.outcome.type).toBe('cancelled');
      expect(played.tookMs).toBeLessThan(1150 + 1000);
      expect(server.counters().requests).toBe(1);
    });
  });

  it('before it began sends nothing', async () => {
    await withStage({ protocol: 'gemini' }, async ({ agent, server }) => {
      const played = await play(agent, { way, input: 'Tell me.', signal: AbortSignal.abort() });
      expectSound(played);
      expect(played.outcome.type).toBe('cancelled');
      expect(server.counters().requests).toBe(0);
    });
  });
});

describe('somebody who stops reading the stream', () => {
  it('stops the run', async () => {
    await withStage({ protocol: 'openai-chat', fault: 'silence-mid-stream' }, async ({ agent }) => {
      const stream = agent.stream('Tell me.');
      const seen: RunEvent[] = [];
      for await (const event of stream) {
        seen.push(event);
        if (event.type === 'text-delta') break;
      }
      expect((await stream.outcome).type).toBe('cancelled');
      expect(shownText(seen)).not.toBe('');
    });
  });
});
