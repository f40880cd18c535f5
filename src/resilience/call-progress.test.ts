import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureTraits } from '../errors/codes.ts';
import type { FailureCode } from '../errors/codes.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { advance, afterWait, atElapsed, reportOf, situationOf, startProgress } from './call-progress.ts';
import type { Advanced, CallProgress, StepEnd } from './call-progress.ts';
import type { Decision } from './decide.ts';
import { emptyLedger } from './ledger.ts';

const first = { provider: 'one', name: 'small', quotaKey: 'one/key' };
const second = { provider: 'two', name: 'large', quotaKey: 'two/key' };
const times = { waitedMs: 0, durationMs: 10, wallMs: 1_000_000 };
const retry: Decision = { type: 'retry', delayMs: 500, reason: 'backoff' };
const fallBack: Decision = { type: 'fall-back', reason: 'used up' };
const giveUp: Decision = { type: 'give-up', reason: 'used up' };

const busy = createFailure('RATE_LIMITED', { message: 'slow down', retryAfterMs: 90_000 });
const down = createFailure('SERVER_ERROR', { message: 'down', phase: 'headers' });

type Failed = Extract<StepEnd<unknown>, { type: 'failure' }>;

const failed = (decision: Decision, more: Partial<Failed> = {}): Failed => ({
  type: 'failure',
  failure: down,
  canSplice: false,
  decision,
  wasAdmitted: true,
  charge: { inputTokens: 3, outputTokens: 1 },
  isProbe: false,
  ...times,
  ...more,
});
const refused = (decision: Decision, failure: Failure): Failed =>
  failed(decision, { failure, wasAdmitted: false, charge: {}, durationMs: 0, waitedMs: 40 });
const answered: StepEnd<string> = {
  type: 'success',
  value: 'hello',
  charge: { inputTokens: 3, outputTokens: 2, costUsd: 0.5 },
  isProbe: false,
  ...times,
};

/** Follows the steps, with the waits that they ask for. */
function follow(steps: readonly StepEnd<unknown>[], targets = [first, second]): Advanced {
  let last: Advanced = { progress: startProgress(), next: { type: 'attempt' } };
  for (const step of steps) {
    last = advance(last.progress, step, targets);
    if (last.next.type === 'wait') last = { ...last, progress: afterWait(last.progress, last.next.delayMs) };
  }
  return last;
}

describe('advance() after a failure', () => {
  it('ends the call where the decision is to give up, and says how many attempts were made', () => {
    const { progress, next, told } = follow([failed(retry), failed(giveUp)]);
    expect(next).toMatchObject({
      type: 'failed',
      failure: { code: 'SERVER_ERROR', context: { attempts: 2 } },
    });
    expect(told).toEqual({ type: 'recovery', failure: down, recovery: 'give-up', reason: 'used up' });
    expect(reportOf(progress, false)).toMatchObject({ recoveries: [], elapsedMs: 520 });
  });

  it('ends the call where there is no model to fall back on, whatever was decided', () => {
    expect(follow([failed(fallBack)], [first]).next.type).toBe('failed');
  });

  it('names every model that was asked', () => {
    const { next } = follow([failed(retry), failed(fallBack), refused(giveUp, busy)]);
    expect(next).toMatchObject({
      type: 'failed',
      failure: {
        code: 'RATE_LIMITED',
        message: expect.stringMatching(
          /one \(small\): SERVER_ERROR after 2 attempts; two \(large\)/,
        ) as string,
        context: { attempts: 2 },
      },
    });
  });

  it('asks for the wait that was decided, and counts what failed at this model', () => {
    const { progress, next, told } = advance(startProgress(), failed(retry), [first]);
    expect(next).toEqual({ type: 'wait', delayMs: 500 });
    expect(told).toMatchObject({ recovery: 'retry', delayMs: 500 });
    expect(situationOf(progress, [first], 1000)).toMatchObject({
      attempt: 2,
      tries: 1,
      kinds: { SERVER_ERROR: 1 },
      hasNextModel: false,
      leftMs: 1000,
    });
  });

  it('calls it a splice where the next attempt can go on', () => {
    expect(follow([failed(retry, { canSplice: true })]).told?.recovery).toBe('splice');
  });

  it('begins at the next model without what failed at the one before', () => {
    const { progress, next } = follow([failed(retry), failed(fallBack)]);
    expect(next).toEqual({ type: 'attempt' });
    expect(situationOf(progress, [first, second], 5)).toMatchObject({
      target: 1,
      attempt: 3,
      tries: 0,
      kinds: {},
      hasNextModel: false,
    });
  });

  it('has no target beyond the last: a defect', () => {
    expect(() => advance(startProgress(), answered, [])).toThrow('There is no target 0 among 0');
  });
});

describe('advance() after a success', () => {
  it('reports one attempt, and nothing that was overcome', () => {
    const { progress, next, told } = follow([answered]);
    expect(next).toEqual({ type: 'succeeded' });
    expect(told).toBeUndefined();
    expect(reportOf(progress, true)).toEqual({
      attempts: [{ attempt: 1, provider: 'one', model: 'small', isProbe: false, durationMs: 10 }],
      recoveries: [],
      ledger: { ...emptyLedger, requests: 1, inputTokens: 3, outputTokens: 2, costUsd: 0.5 },
      elapsedMs: 10,
    });
  });

  it('says of each failure what was done about it, and what it cost', () => {
    const { progress } = follow([failed(retry), failed(fallBack), { ...answered, waitedMs: 7 }]);
    const report = reportOf(progress, true);
    expect(report.recoveries).toEqual([
      // From the start of the failed attempt to the start of the next one.
      { failure: down, recovery: 'retry', attempts: 1, lostMs: 510, lostTokens: 4 },
      { failure: down, recovery: 'fall-back', attempts: 2, lostMs: 17, lostTokens: 4 },
    ]);
    expect(report.ledger).toMatchObject({ requests: 3, waitedMs: 507, lostTokens: 8 });
    expect(report.elapsedMs).toBe(537);
  });

  it('counts a model that was not asked among what was overcome, without an attempt', () => {
    const { progress } = follow([refused(fallBack, busy), answered]);
    const report = reportOf(progress, true);
    expect(report.attempts).toHaveLength(1);
    expect(report.recoveries).toEqual([
      { failure: busy, recovery: 'fall-back', attempts: 0, lostMs: 40, lostTokens: 0 },
    ]);
    expect(report.ledger).toMatchObject({ requests: 1, waitedMs: 40 });
  });

  it('keeps the last hundred attempts and recoveries of a patient call, and counts all', () => {
    const { progress } = follow([...Array.from({ length: 150 }, () => failed(retry)), answered]);
    const { attempts, recoveries, ledger } = reportOf(progress, true);
    expect(attempts.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 52),
    );
    expect(recoveries.map((record) => record.attempts)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 51),
    );
    expect(ledger.requests).toBe(151);
    expect(progress).toMatchObject({ attempts: 151, tries: 151, kinds: { SERVER_ERROR: 150 } });
  });

  it('goes on with the ledger that it was handed', () => {
    const ledger = { ...emptyLedger, requests: 5, inputTokens: 100 };
    const { progress } = advance(startProgress(ledger), answered, [first]);
    expect(progress.ledger).toMatchObject({ requests: 6, inputTokens: 103 });
  });
});

describe('a wait that was asked for', () => {
  const asked = failed({ ...fallBack, resumeAfterMs: 90_000 }, { failure: busy });
  const chain = [first, second, first];
  const afterBoth = follow([asked, failed(fallBack)], chain).progress;

  it('holds for the same model further down the chain', () => {
    expect(situationOf(afterBoth, chain, 1000).tooEarly).toEqual(busy);
  });

  it.each([
    { name: 'another key', other: { ...first, quotaKey: 'one/other' } },
    { name: 'another model', other: { ...first, name: 'large' } },
    { name: 'another provider', other: { ...first, provider: 'three' } },
  ])('does not hold for $name', ({ other }) => {
    expect(situationOf(afterBoth, [first, second, other], 1000).tooEarly).toBeUndefined();
  });

  it('is over when its time has passed, and not before', () => {
    // It was asked for at 10 ms.
    expect(situationOf(atElapsed(afterBoth, 90_009), chain, 1000).tooEarly).toEqual(busy);
    expect(situationOf(atElapsed(afterBoth, 90_010), chain, 1000).tooEarly).toBeUndefined();
  });

  it('becomes the moment to resume; of several the first', () => {
    const later = { ...giveUp, resumeAfterMs: 200_000 };
    const { progress } = follow([asked, refused(later, busy)]);
    expect(reportOf(progress, false).resumeAtMs).toBe(1_090_000);
  });
});

// All that may happen, in any order: the steps of an outside world that keeps its word.
const codes = Object.keys(failureTraits) as readonly FailureCode[]; // Object.keys loses the key type.
const reason = fc.constant('because');
const resumeAfterMs = fc.nat(100_000);
const anyTimes = { waitedMs: fc.nat(1000), durationMs: fc.nat(10_000), wallMs: fc.nat(2_000_000_000) };
const amount = fc.option(fc.nat(1000), { nil: undefined });
const charge = fc.record({ inputTokens: amount, outputTokens: amount, costUsd: amount });
const decision: fc.Arbitrary<Decision> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('retry'), delayMs: fc.nat(30_000), reason }) },
  fc.record({ type: fc.constant('fall-back'), reason, resumeAfterMs }, { requiredKeys: ['type', 'reason'] }),
  fc.record({ type: fc.constant('give-up'), reason, resumeAfterMs }, { requiredKeys: ['type', 'reason'] }),
);
const anyFailed: fc.Arbitrary<StepEnd<unknown>> = fc
  .record({
    type: fc.constant('failure'),
    failure: fc.constantFrom(...codes).map((code) => createFailure(code, { message: code })),
    value: fc.jsonValue(),
    canSplice: fc.boolean(),
    decision,
    wasAdmitted: fc.boolean(),
    isProbe: fc.boolean(),
    charge,
    ...anyTimes,
  })
  // Who was not asked is not asked again.
  .filter((step) => step.wasAdmitted || step.decision.type !== 'retry');
const anyAnswered: fc.Arbitrary<StepEnd<unknown>> = fc.record({
  type: fc.constant('success'),
  value: fc.jsonValue(),
  isProbe: fc.boolean(),
  charge,
  ...anyTimes,
});
const anySteps = fc.array(fc.oneof({ weight: 30, arbitrary: anyFailed }, anyAnswered), {
  minLength: 1,
  maxLength: 60,
  size: 'max',
});
const anyTargets = fc.array(fc.constantFrom(first, second), { minLength: 1, maxLength: 4 });

interface Played {
  readonly steps: readonly StepEnd<unknown>[];
  readonly targets: readonly (typeof first)[];
}

/** Plays until the call ends or there are no more steps. `pass` stands between every two of them. */
function play({ steps, targets }: Played, pass: <Value>(value: Value) => Value): readonly Advanced[] {
  const seen: Advanced[] = [];
  let progress = startProgress();
  for (const step of steps) {
    const advanced = pass(advance(progress, pass(step), targets));
    seen.push(advanced);
    if (advanced.next.type === 'succeeded' || advanced.next.type === 'failed') break;
    const waitedMs = advanced.next.type === 'wait' ? advanced.next.delayMs : 0;
    progress = pass(afterWait(advanced.progress, waitedMs));
    pass(situationOf(progress, targets, 1000));
  }
  return seen;
}

const asJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value; // A round trip keeps the shape.

function expectBounds(progress: CallProgress, targets: readonly unknown[]): void {
  expect(progress.target).toBeLessThan(targets.length);
  expect(progress.records.length).toBeLessThanOrEqual(100);
  expect(progress.recoveries.length).toBeLessThanOrEqual(100);
  expect(progress.failures.length).toBeLessThanOrEqual(targets.length);
  expect(progress.waits.length).toBeLessThanOrEqual(targets.length);
}

describe('any sequence of steps', () => {
  it('comes to the same through JSON as in memory', () => {
    fc.assert(
      fc.property(anySteps, anyTargets, (steps, targets) => {
        const played = { steps, targets };
        expect(play(played, asJson)).toStrictEqual(asJson(play(played, (value) => value)));
      }),
      { numRuns: 100 },
    );
  });

  it('is bounded, and makes no more attempts than were granted', () => {
    fc.assert(
      fc.property(anySteps, anyTargets, (steps, targets) => {
        const seen = play({ steps, targets }, (value) => value);
        const done = steps.slice(0, seen.length);
        const admitted = done.filter((step) => step.type === 'success' || step.wasAdmitted);
        const retries = seen.filter(({ next }) => next.type === 'wait');
        for (const { progress } of seen) expectBounds(progress, targets);
        const last = seen.at(-1);
        expect(last?.progress.attempts).toBe(admitted.length);
        // The first attempt at each target, and one for each retry that was granted.
        expect(admitted.length).toBeLessThanOrEqual(targets.length + retries.length);
      }),
      { numRuns: 100 },
    );
  });

  it('never gets stuck: it waits, asks the next model or ends, exactly as decided', () => {
    fc.assert(
      fc.property(anySteps, anyTargets, (steps, targets) => {
        const seen = play({ steps, targets }, (value) => value);
        const expected = seen.map(({ progress }, index) => {
          const step = steps[index];
          if (step?.type !== 'failure') return 'succeeded';
          if (step.decision.type === 'retry') return 'wait';
          const isLast = progress.failures.length === targets.length;
          return step.decision.type === 'give-up' || isLast ? 'failed' : 'attempt';
        });
        expect(seen.map(({ next }) => next.type)).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });
});
