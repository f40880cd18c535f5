import { describe, expect, it } from 'vitest';
import type { PermissionRule } from '../../agent/approval/permission.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Model } from '../../model/model.ts';
import type { Tool } from '../../model/tool.ts';
import { createModelRegistry } from '../../providers/registry.ts';
import { resolveRetryPolicy } from '../../resilience/retry-policy.ts';
import type { RetryOption } from '../../resilience/retry-policy.ts';
import { runAttempts } from '../../runtime/model-call/attempt-loop.ts';
import type { CallTarget } from '../../runtime/model-call/call-target.ts';
import { createGates } from '../../runtime/model-call/gates.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { tool } from '../../tools/tool.ts';
import { worstCaseOf } from './worst-case.ts';

const environment = { ANTHROPIC_API_KEY: 'sk-ant-test-1', OPENAI_API_KEY: 'sk-proj-test-2' };
const registry = createModelRegistry({ environment });
const sonnet = registry.resolve('anthropic:claude-sonnet-5');
const gpt = registry.resolve('openai:gpt-5.4');
const unpriced = registry.resolve('openai:somebody-new');

interface Played {
  readonly retry: RetryOption;
  readonly models: number;
  readonly attemptMs: number;
  readonly askedMs?: number;
  readonly drawn: number;
}

/** The real loop, on targets that have answered once and always fail from then on. */
async function playReal({ retry, models, attemptMs, askedMs, drawn }: Played): Promise<{
  readonly requests: number;
  readonly elapsedMs: number;
}> {
  const clock = simulatedClock();
  let requests = 0;
  let isDown = false;
  const failure = createFailure('SERVER_ERROR', {
    origin: 'model',
    message: 'busy',
    // An answer that breaks after a long while: a silent model would open its breaker sooner.
    phase: 'body',
    ...(askedMs === undefined ? {} : { retryAfterMs: askedMs }),
  });
  const targets = Array.from({ length: models }, (_, index): CallTarget<undefined> => ({
    provider: `p${index}`,
    name: 'm',
    quotaKey: `p${index}`,
    attempt: async ({ leftMs }) => {
      if (!isDown) return { type: 'success', value: undefined, charge: {} };
      requests += 1;
      await new Promise<void>((resolve) => clock.after(Math.min(attemptMs, leftMs), resolve));
      return { type: 'failure', failure, canSplice: false, value: undefined, charge: {} };
    },
  }));
  const options = {
    retry: resolveRetryPolicy(retry),
    fallBackOnFilter: false,
    limits: {},
    clock,
    random: () => drawn,
    gates: createGates({ clock }),
  };
  for (const target of targets) await runAttempts([target], options);
  isDown = true;
  const done = runAttempts(targets, options);
  const { report } = await clock.runUntil(done);
  return { requests, elapsedMs: report.elapsedMs };
}

const perCall = (retry: RetryOption, models: readonly Model[] = [sonnet, gpt]): number =>
  worstCaseOf({ retry, models }).requestsPerCall;

describe('worstCaseOf() agrees with the real loop of attempts', () => {
  it.each<{ readonly retry: RetryOption; readonly requests: number }>([
    { retry: 'none', requests: 2 },
    { retry: 'quick', requests: 4 },
    { retry: 'standard', requests: 16 },
    { retry: { maxAttempts: 9 }, requests: 18 },
    { retry: { maxAttempts: 6, deadlineMs: 300 }, requests: 4 },
  ])('on the requests of one call by $retry', async ({ retry, requests }) => {
    const fast = { retry, models: 2, attemptMs: 0, askedMs: 1, drawn: 0 };
    expect((await playReal(fast)).requests).toBe(requests);
    expect(perCall(retry)).toBe(requests);
  });

  it('on more requests than a patient call ever makes', async () => {
    const real = await playReal({ retry: 'patient', models: 1, attemptMs: 0, drawn: 0 });
    expect(real.requests).toBeGreaterThan(10);
    expect(perCall('patient', [sonnet])).toBeGreaterThanOrEqual(real.requests);
  });

  it.each<{ readonly retry: RetryOption; readonly askedMs?: number }>([
    { retry: 'none' },
    { retry: 'standard', askedMs: 60_000 },
    { retry: { maxAttempts: 3, deadlineMs: 100_000 }, askedMs: 60_000 },
  ])('on the longest time of one call by $retry', async ({ retry, askedMs }) => {
    const slow = { retry, models: 1, attemptMs: 20_000, drawn: 1 - Number.EPSILON };
    const real = await playReal(askedMs === undefined ? slow : { ...slow, askedMs });
    const limits = { maxContinuations: 0, modelTimeoutMs: 20_000, timeoutMs: 10_000_000 };
    const { longestTurnMs } = worstCaseOf({ retry, limits, models: [sonnet] });
    // A turn may ask once more with a shorter conversation.
    expect(longestTurnMs / 2).toBeCloseTo(real.elapsedMs, 0);
  });
});

describe('worstCaseOf()', () => {
  it('counts the turns of a run, the last one without tools too', () => {
    const limits = { maxTurns: 10, maxContinuations: 2 };
    const { requestsPerTurn, requestsPerRun } = worstCaseOf({ limits, models: [sonnet] });
    expect({ requestsPerTurn, requestsPerRun }).toEqual({ requestsPerTurn: 32, requestsPerRun: 352 });
  });

  it('knows the bounds of a run', () => {
    const limits = { maxRequests: 5, timeoutMs: 1000, modelTimeoutMs: 500, maxCostUsd: 0.01 };
    const worst = worstCaseOf({ limits, models: [sonnet] });
    expect(worst).toMatchObject({
      requestsPerTurn: 5,
      requestsPerRun: 5,
      longestTurnMs: 1000,
      longestRunMs: 1000,
    });
    expect(worst.costPerTurnUsd).toBeCloseTo(0.01 + 0.28, 6);
  });

  it('says that nothing bounds the requests where nothing does', () => {
    const retry = { maxAttempts: Infinity, minDelayMs: 0, baseDelayMs: 0, jitter: 0 };
    const worst = worstCaseOf({ retry, models: [sonnet], limits: { maxTurns: Infinity } });
    expect(worst).toMatchObject({
      requestsPerCall: Infinity,
      requestsPerRun: Infinity,
      costPerTurnUsd: Infinity,
    });
    expect(worst.warnings.map(({ type }) => type)).toContain('unbounded-requests');
  });

  it('adds up what is known to cost, and names what is not', () => {
    const { costPerTurnUsd, withoutPrice } = worstCaseOf({
      retry: 'none',
      limits: { maxContinuations: 0 },
      models: [sonnet, gpt, unpriced],
    });
    // 100,000 tokens in and 8,000 out, for each model twice.
    expect(costPerTurnUsd).toBeCloseTo(2 * (0.2 + 0.08 + 0.25 + 0.12), 6);
    expect(withoutPrice).toEqual(['openai:somebody-new']);
    expect(worstCaseOf({ models: [unpriced] })).not.toHaveProperty('costPerTurnUsd');
  });

  it('adds the time of tools, in rounds of as many as run at once, with their retries', () => {
    const limits = {
      maxCallsPerTurn: 16,
      maxConcurrentTools: 8,
      maxContinuations: 0,
      timeoutMs: 100_000_000,
    };
    const without = worstCaseOf({ retry: 'none', limits, models: [sonnet] }).longestTurnMs;
    const pay = makeTool('pay', { effect: 'once', timeoutMs: 5000 });
    const look = makeTool('look', { effect: 'read', timeoutMs: 5000 });
    const withOnce = worstCaseOf({ retry: 'standard', limits, models: [sonnet], tools: [pay] });
    const base = worstCaseOf({ retry: 'standard', limits, models: [sonnet] }).longestTurnMs;
    expect(withOnce.longestTurnMs - base).toBe(2 * 5000);
    const withRead = worstCaseOf({ retry: 'none', limits, models: [sonnet], tools: [look] });
    expect(withRead.longestTurnMs - without).toBe(2 * 5000);
    const patient = worstCaseOf({ retry: 'standard', limits, models: [sonnet], tools: [look] });
    expect(patient.longestTurnMs - base).toBeGreaterThan(2 * 4 * 5000);
  });
});

function makeTool(
  name: string,
  options: Pick<Tool, 'effect'> & Partial<Pick<Tool, 'timeoutMs' | 'permission'>>,
): Tool {
  return tool({
    name,
    description: `To ${name}.`,
    input: { type: 'object' },
    ...options,
    execute: () => 'ok',
  });
}

interface WarningRow {
  readonly what: string;
  readonly type: string;
  readonly input: Partial<Parameters<typeof worstCaseOf>[0]>;
  readonly says: RegExp;
}

const shell = makeTool('shell', { effect: 'once', permission: 'ask' });
const ruleFor = (rule: Partial<PermissionRule>): readonly PermissionRule[] => [
  { permission: 'allow', ...rule },
];

describe('worstCaseOf() warns of', () => {
  it.each<WarningRow>([
    {
      what: 'a model that retries by itself',
      type: 'nested-retry',
      input: {
        models: [{ ...sonnet, call: (request) => sonnet.call(request), maxRetries: 2 } as Model, gpt],
      },
      says: /anthropic:claude-sonnet-5 seems to retry by itself: it has "maxRetries"/,
    },
    {
      what: 'a model whose code speaks of retries',
      type: 'nested-retry',
      input: { models: [{ ...sonnet, call: (request) => withRetry(() => sonnet.call(request)) }, gpt] },
      says: /its code speaks of retries/,
    },
    {
      what: 'a retry inside a tool that must run once',
      type: 'nested-retry',
      input: { tools: [{ ...shell, execute: (_input: unknown) => withRetry(() => 5) }] },
      says: /"shell" has the effect "once" and seems to retry by itself/,
    },
    {
      what: 'a tool without a timeout',
      type: 'missing-timeout',
      input: { tools: [{ ...shell, timeoutMs: Infinity }] },
      says: /"shell" has no timeout/,
    },
    {
      what: 'a tool that may take as long as the run',
      type: 'missing-timeout',
      input: { tools: [{ ...shell, timeoutMs: 5000 }], limits: { timeoutMs: 5000, modelTimeoutMs: 1000 } },
      says: /may take 5000 ms, as long as the whole run/,
    },
    {
      what: 'an unsafe tool without approval',
      type: 'unsafe-tool',
      input: { tools: [makeTool('pay', { effect: 'once', permission: 'allow' })] },
      says: /"pay" has the effect "once" and runs without anybody being asked/,
    },
    {
      what: 'a rule that lifts the question',
      type: 'unsafe-tool',
      input: { tools: [shell], permissions: ruleFor({ tool: 'shell' }) },
      says: /"shell" has the effect "once" and runs without/,
    },
    {
      what: 'a pattern that lets commands through',
      type: 'unsafe-tool',
      input: {
        tools: [shell],
        permissions: ruleFor({ tool: 'sh*', input: { command: { matches: 'git *' } } }),
      },
      says: /allows "shell", .* by a pattern/,
    },
    {
      what: 'a deadline shorter than one attempt',
      type: 'short-deadline',
      input: { retry: { deadlineMs: 5000 } },
      says: /retry\.deadlineMs is 5000 ms, shorter than one attempt may take \(120000 ms\)/,
    },
    {
      what: 'a run shorter than one attempt',
      type: 'short-deadline',
      input: { limits: { timeoutMs: 5000 } },
      says: /limits\.timeoutMs is 5000 ms/,
    },
    {
      what: 'a chain of one',
      type: 'no-fallback',
      input: { models: [sonnet] },
      says: /no other model than anthropic:claude-sonnet-5/,
    },
    {
      what: 'a chain behind one key',
      type: 'shared-outage',
      input: { models: [gpt, unpriced] },
      says: /All 2 models are behind the same provider and key/,
    },
  ])('$what', ({ type, input, says }) => {
    const { warnings } = worstCaseOf({ models: [sonnet, gpt], ...input });
    expect(warnings.map((warning) => warning.type)).toEqual([type]);
    expect(warnings[0]?.text).toMatch(says);
    expect(warnings[0]?.advice).toMatch(/\.$/);
  });

  it('nothing where all is as it should be', () => {
    const permissions = ruleFor({ tool: 'shell', input: { command: { runs: ['git status'] } } });
    const look = makeTool('look', { effect: 'read' });
    expect(worstCaseOf({ models: [sonnet, gpt], tools: [shell, look], permissions }).warnings).toEqual([]);
    expect(worstCaseOf({ models: [registry.resolve('simulated:embedded')] }).warnings).toEqual([]);
  });
});

function withRetry<T>(work: () => T): T {
  return work();
}
