import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getEventListeners, setMaxListeners } from 'node:events';
import { createFailure } from '../../src/errors/failure.ts';
import { failureTraits } from '../../src/errors/codes.ts';
import type { FailureCode } from '../../src/errors/codes.ts';
import type { Model } from '../../src/model/model.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import type { CallEvent, CallOutcome } from '../../src/runtime/model-call/call-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { resolveRetryPolicy } from '../../src/resilience/retry-policy.ts';
import type { RetryOption } from '../../src/resilience/retry-policy.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ScriptEntry } from '../../src/testing/scripted-model.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import { hello, showText } from './play.ts';

const codes = Object.keys(failureTraits) as readonly FailureCode[]; // Object.keys loses the key type.
const full = 'The quick brown fox jumps over the lazy dog and 😀 then sleeps for a long while, twice.';
const graceMs = 300;

const entry: fc.Arbitrary<ScriptEntry> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ text: fc.constant(full), delayMs: fc.nat(5000), chunkDelayMs: fc.nat(2000) }),
  },
  {
    weight: 5,
    arbitrary: fc
      .record({
        code: fc.oneof(
          { weight: 1, arbitrary: fc.constantFrom(...codes) },
          {
            weight: 5,
            arbitrary: fc.constantFrom<FailureCode>('SERVER_ERROR', 'RATE_LIMITED', 'OVERLOADED', 'TIMEOUT'),
          },
        ),
        retryAfterMs: fc.option(fc.nat(59_000), { nil: undefined }),
        phase: fc.constantFrom('connect', 'headers', undefined),
        delayMs: fc.nat(3000),
      })
      .map(({ code, retryAfterMs, phase, delayMs }) => ({
        delayMs,
        failure: createFailure(code, {
          message: code,
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
          ...(phase === undefined ? {} : { phase }),
        }),
      })),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      brokenAfter: fc.nat(full.length).map((end) => full.slice(0, end)),
      chunkDelayMs: fc.nat(2000),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ text: full, delayMs: Infinity }) },
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ text: 'cut', finish: 'length' } as const) },
);

const plan = fc.record({
  seed: fc.nat(),
  scripts: fc.array(fc.array(entry, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 }),
  continuation: fc.constantFrom('none', 'prefill'),
  retry: fc.constantFrom<RetryOption>('none', 'quick', 'standard', 'patient', {
    maxAttempts: 3,
    deadlineMs: 7000,
  }),
  callers: fc.integer({ min: 1, max: 8 }),
  maxInFlight: fc.constantFrom(1, 2, 64),
  budgetTokens: fc.constantFrom(0, 5, 500),
  sharedKey: fc.boolean(),
  abortMs: fc.option(fc.nat(120_000), { nil: undefined }),
  slowMs: fc.constantFrom(0, 0, 100),
  wallJumpMs: fc.constantFrom(0, 86_400_000, -86_400_000),
});
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

interface Caller {
  readonly outcome: CallOutcome;
  readonly events: readonly { readonly atMs: number; readonly event: CallEvent }[];
}

interface Seen {
  readonly callers: readonly Caller[];
  readonly sent: number;
  readonly maxPerKey: number;
  readonly maxProbes: number;
}

/** What a continuing server would say: the rest of the text. */
function continues(step: ScriptEntry, from: string | undefined): ScriptEntry {
  if (from === undefined || typeof step === 'string') return step;
  if ('brokenAfter' in step) return { ...step, brokenAfter: full.slice(from.length, from.length + 11) };
  return 'text' in step && step.text === full ? { ...step, text: full.slice(from.length) } : step;
}

async function run(given: Plan): Promise<Seen> {
  const clock = simulatedClock();
  const gates = createGates({
    clock,
    policy: { maxInFlight: given.maxInFlight, budgetTokens: given.budgetTokens },
  });
  const random = seededRandom(given.seed);
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const inFlight = new Map<string, number>();
  const seen = { sent: 0, maxPerKey: 0, maxProbes: 0, probes: 0 };
  const models = given.scripts.map((script, index): Model => {
    const model = scriptedModel(
      (request, call) => continues(script[call % script.length] ?? 'fine', request.continueFrom),
      {
        provider: `p${index}`,
        quotaKey: given.sharedKey ? 'shared' : `key-${index}`,
        capabilities: { continuation: given.continuation },
      },
    );
    return {
      ...model,
      call: async (request, options) => {
        inFlight.set(model.quotaKey, (inFlight.get(model.quotaKey) ?? 0) + 1);
        seen.maxPerKey = Math.max(seen.maxPerKey, inFlight.get(model.quotaKey) ?? 0);
        const response = await model.call(request, options);
        inFlight.set(model.quotaKey, (inFlight.get(model.quotaKey) ?? 0) - 1);
        if (response.type === 'success' || response.failure.phase !== 'connect') seen.sent += 1;
        return response;
      },
    };
  });
  if (given.abortMs !== undefined) clock.after(given.abortMs, () => controller.abort());
  if (given.wallJumpMs !== 0) clock.after(3000, () => clock.jumpWall(given.wallJumpMs));
  const callers = Array.from({ length: given.callers }, async (): Promise<Caller> => {
    const events: { atMs: number; event: CallEvent }[] = [];
    const outcome = await callModel(models, hello, {
      clock,
      gates,
      random,
      signal: controller.signal,
      policy: { retry: given.retry },
      onEvent: (event) => {
        events.push({ atMs: clock.monotonicMs(), event });
        if (given.slowMs === 0 || event.type !== 'text-delta') return undefined;
        return new Promise((resolve) => clock.after(given.slowMs, resolve));
      },
    });
    return { outcome, events };
  });
  const done = await clock.runUntil(Promise.all(callers));
  await clock.runAll(); // What the plan itself set.
  expect(clock.pending()).toBe(0);
  for (const state of Object.values(gates.states())) expect(state).toMatchObject({ inFlight: 0, waiting: 0 });
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  return { callers: done, ...seen };
}

/** What is wrong with the end of one call. */
function endProblems({ outcome, events }: Caller, given: Plan): readonly (string | false)[] {
  const { report } = outcome;
  const shown = showText(events.map(({ event }) => event));
  const last = events.at(-1)?.event;
  const boundMs = resolveRetryPolicy(given.retry).deadlineMs + graceMs + given.slowMs;
  const whole = outcome.type === 'success' ? outcome.result.text : outcome.partial.text;
  const hasGivenUp = last?.type === 'recovery' && last.recovery === 'give-up';
  // Known: a call that is cancelled in a wait does not tell its end (hunt-waits-and-deadlines).
  const mustTell = outcome.type === 'failure' && outcome.failure.code !== 'CANCELLED';
  return [
    report.elapsedMs > boundMs && `took ${report.elapsedMs} of ${boundMs} ms`,
    shown !== whole && `showed "${shown}" instead of "${whole}"`,
    outcome.type === 'failure' && report.recoveries.length > 0 && 'overcame something and failed',
    mustTell && !hasGivenUp && `ended with ${last?.type}`,
  ];
}

/** What is wrong with the order of what was told. */
function orderProblems({ events }: Caller, given: Plan): readonly (string | false)[] {
  const policy = resolveRetryPolicy(given.retry);
  const maxAttempts = Math.max(policy.maxAttempts, policy.maxQuickAttempts ?? 1);
  const problems: (string | false)[] = [];
  const starts = new Map<string, number>();
  const notBefore = new Map<string, number>();
  let current = '';
  let previous = 'none';
  for (const { atMs, event } of events) {
    if (previous === 'give-up') problems.push(`${event.type} after the end`);
    if (event.type === 'attempt-started') {
      current = event.provider;
      starts.set(current, (starts.get(current) ?? 0) + 1);
      problems.push(
        atMs < (notBefore.get(current) ?? 0) && `asked ${current} too early, at ${atMs}`,
        (starts.get(current) ?? 0) > maxAttempts && `asked ${current} too often`,
        ['attempt-started', 'failure'].includes(previous) && `attempt after ${previous}`,
      );
      previous = event.type;
    }
    if (event.type === 'failure') {
      problems.push(previous !== 'attempt-started' && `failure after ${previous}`);
      notBefore.set(current, atMs + (event.failure.retryAfterMs ?? 0));
      previous = event.type;
    }
    if (event.type === 'recovery') {
      problems.push(previous === 'attempt-started' && 'recovery without a failure');
      previous = event.recovery;
    }
  }
  return problems;
}

describe('the policy under any script', () => {
  it(
    'settles in time, leaves nothing behind, counts truly and tells things in order',
    { timeout: 300_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(plan, async (given) => {
          const seen = await run(given);
          const problems = seen.callers.flatMap((caller) => [
            ...endProblems(caller, given),
            ...orderProblems(caller, given),
          ]);
          expect(problems.filter((problem) => problem !== false)).toEqual([]);
          const counted = seen.callers.reduce((sum, { outcome }) => sum + outcome.report.ledger.requests, 0);
          expect(counted).toBe(seen.sent);
          expect(seen.maxPerKey).toBeLessThanOrEqual(given.maxInFlight);
        }),
        { numRuns: Number(process.env['HUNT_RUNS'] ?? 60) },
      );
    },
  );

  it('says the same twice', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (given) => {
        const told: unknown[] = [];
        // Run from one place of this file, so that the stacks in the failures are the same.
        for (let time = 0; time < 2; time += 1)
          told.push((await run(given)).callers.map(({ events }) => events));
        expect(told[1]).toEqual(told[0]);
      }),
      { numRuns: 10 },
    );
  });
});
