import { describe, expect, it } from 'vitest';
import type { FailureCode } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import {
  advance,
  afterWait,
  atElapsed,
  reportOf,
  situationOf,
  startProgress,
} from '../../resilience/call-progress.ts';
import type { AttemptSituation } from '../../resilience/call-progress.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { SimulatedClock } from '../../testing/simulated-clock.ts';
import { runAttempts } from './attempt-loop.ts';
import { performStep } from './attempt-step.ts';
import { resolveLoopOptions } from './call-policy.ts';
import type { CallPolicy } from './call-policy.ts';
import type { CallTarget, LoopEvent, LoopOptions, LoopResult } from './call-target.ts';
import { createGates } from './gates.ts';

interface Scene {
  readonly clock: SimulatedClock;
  readonly options: LoopOptions;
  readonly events: LoopEvent[];
}

function scene(policy: CallPolicy = {}, signal?: AbortSignal): Scene {
  const clock = simulatedClock();
  const events: LoopEvent[] = [];
  const options = resolveLoopOptions({
    policy,
    signal,
    clock,
    random: seededRandom(1),
    gates: createGates({ clock }),
    onEvent: (event) => void events.push(event),
  });
  return { clock, options, events };
}

interface Script {
  readonly name: string;
  /** What each attempt fails with; after the last it succeeds. */
  readonly codes: readonly FailureCode[];
  readonly retryAfterMs?: number;
}

function targetOf({ name, codes, retryAfterMs }: Script, clock: SimulatedClock): CallTarget<string> {
  let asked = 0;
  return {
    provider: 'scripted',
    name,
    quotaKey: `scripted/${name}`,
    attempt: async () => {
      await new Promise<void>((resolve) => clock.after(20, resolve));
      const code = codes[asked];
      asked += 1;
      const charge = { inputTokens: 2, outputTokens: 1 };
      if (code === undefined) return { type: 'success', value: `by ${name}`, charge };
      const asks = retryAfterMs === undefined ? {} : { retryAfterMs };
      const failure = createFailure(code, { message: code, ...asks });
      return { type: 'failure', failure, value: `half by ${name}`, canSplice: false, charge };
    },
  };
}

const situation: AttemptSituation = {
  target: 0,
  attempt: 1,
  tries: 0,
  kinds: {},
  hasNextModel: false,
  ledger: emptyLedger,
  leftMs: 60_000,
};
const tooEarly = createFailure('RATE_LIMITED', { message: 'not yet', retryAfterMs: 90_000 });

describe('performStep() without an attempt', () => {
  it.each([
    { name: 'gives up without another model', change: {}, decision: 'give-up' },
    { name: 'falls back on the next model', change: { hasNextModel: true }, decision: 'fall-back' },
    { name: 'gives up without time', change: { hasNextModel: true, leftMs: 0 }, decision: 'give-up' },
  ])('does not ask a model before the time that it asked for: $name', async ({ change, decision }) => {
    const { clock, options, events } = scene();
    const target = targetOf({ name: 'a', codes: [] }, clock);
    const end = await performStep(target, { ...situation, ...change, tooEarly }, options);
    expect(end).toEqual({
      type: 'failure',
      failure: tooEarly,
      canSplice: false,
      decision: { type: decision, reason: 'not yet', resumeAfterMs: 90_000 },
      wasAdmitted: false,
      charge: {},
      isProbe: false,
      waitedMs: 0,
      durationMs: 0,
      wallMs: clock.wallMs(),
    });
    expect(events).toEqual([]);
  });

  it('gives up when the caller has gone away, even where another model is left', async () => {
    const { clock, options, events } = scene({}, AbortSignal.abort());
    const target = targetOf({ name: 'a', codes: [] }, clock);
    const end = await performStep(target, { ...situation, hasNextModel: true }, options);
    expect(end).toMatchObject({
      failure: { code: 'CANCELLED' },
      decision: { type: 'give-up', reason: 'the caller cancelled it' },
      wasAdmitted: false,
    });
    expect(events).toEqual([]);
  });

  it('says how long it waited at the gate in vain', async () => {
    const { clock, options } = scene({ retry: { maxWaitMs: 1000 } });
    const gate = options.gates.gateOf('scripted/a');
    gate.throttle('a', createFailure('SERVER_ERROR', { message: 'down' }));
    const target = targetOf({ name: 'a', codes: [] }, clock);
    const end = await clock.runUntil(performStep(target, situation, options));
    expect(end).toMatchObject({
      failure: { code: 'SERVER_ERROR', context: { breaker: 'open' } },
      decision: { type: 'give-up', resumeAfterMs: 4000 },
      wasAdmitted: false,
      waitedMs: 1000,
      durationMs: 0,
    });
  });
});

describe('performStep() with an attempt', () => {
  it('keeps no place at the gate when a listener throws while the breaker is awaited', async () => {
    const { clock, options } = scene();
    options.gates.gateOf('scripted/a').throttle('a', createFailure('SERVER_ERROR', { message: 'down' }));
    const onEvent = (): never => {
      throw new Error('the screen is gone');
    };
    const target = targetOf({ name: 'a', codes: [] }, clock);
    await expect(performStep(target, situation, { ...options, onEvent })).rejects.toThrow(
      'the screen is gone',
    );
    await clock.runAll();
    expect(options.gates.states()).toMatchObject({ 'scripted/a': { inFlight: 0, waiting: 0 } });
  });

  it('decides by what came before at this model', async () => {
    const { clock, options } = scene();
    const target = targetOf({ name: 'a', codes: ['EMPTY_RESPONSE'] }, clock);
    const before = { ...situation, attempt: 2, tries: 1, kinds: { EMPTY_RESPONSE: 1 } };
    const end = await clock.runUntil(performStep(target, before, options));
    expect(end).toMatchObject({
      type: 'failure',
      value: 'half by a',
      decision: { type: 'give-up', reason: expect.stringContaining('EMPTY_RESPONSE came 2 times') as string },
      wasAdmitted: true,
      durationMs: 20,
    });
  });

  it('decides by the ledger that it is handed, and what the attempt adds to it', async () => {
    const { clock, options } = scene({ limits: { maxTokens: 10 } });
    const target = targetOf({ name: 'a', codes: ['SERVER_ERROR'] }, clock);
    const ledger = { ...emptyLedger, inputTokens: 7 };
    const end = await clock.runUntil(performStep(target, { ...situation, ledger }, options));
    expect(end).toMatchObject({ decision: { type: 'give-up', reason: 'the bound maxTokens is reached' } });
  });

  it('tells what happens while it happens, and leaves the decision to be told by its owner', async () => {
    const { clock, options, events } = scene();
    const target = targetOf({ name: 'a', codes: ['SERVER_ERROR'] }, clock);
    const end = await clock.runUntil(performStep(target, { ...situation, attempt: 3 }, options));
    expect(end).toMatchObject({ decision: { type: 'retry' } });
    expect(events).toMatchObject([
      { type: 'attempt-started', attempt: 3, model: 'a', isProbe: false },
      { type: 'failure', attempt: 3, failure: { code: 'SERVER_ERROR' } },
    ]);
  });

  it('leaves the gate where a target breaks its contract, and hands the defect on', async () => {
    const { clock, options } = scene();
    const target = {
      ...targetOf({ name: 'a', codes: [] }, clock),
      attempt: () => Promise.reject(new Error('bug')),
    };
    await expect(performStep(target, situation, options)).rejects.toThrow('bug');
    expect(options.gates.states()).toMatchObject({ 'scripted/a': { inFlight: 0 } });
  });
});

const asJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value; // A round trip keeps the shape.

/** As a journalled run drives a call: all that lasts from one step to the next goes through JSON. */
async function runJournalled(
  targets: readonly CallTarget<string>[],
  { clock, options, events }: Scene,
): Promise<LoopResult<string>> {
  let progress = startProgress();
  let value: string | undefined;
  for (let steps = 0; steps < 100; steps += 1) {
    const target = targets[progress.target];
    if (target === undefined) break;
    const leftMs = options.retry.deadlineMs - progress.elapsedMs;
    const now = asJson(situationOf(progress, targets, leftMs));
    const step = asJson(await performStep(target, now, options));
    const advanced = asJson(advance(progress, step, targets));
    const { next, told } = advanced;
    progress = advanced.progress;
    if (told !== undefined) events.push(told);
    if (step.type === 'success')
      return { type: 'success', value: step.value, report: reportOf(progress, true) };
    value = step.value ?? value;
    if (next.type === 'failed')
      return { type: 'failure', failure: next.failure, value, report: reportOf(progress, false) };
    if (next.type !== 'wait') continue;
    await new Promise<void>((resolve) => clock.after(next.delayMs, resolve));
    progress = asJson(afterWait(progress, next.delayMs));
    progress = asJson(atElapsed(progress, clock.monotonicMs()));
  }
  throw new Error('It does not end');
}

describe('a call whose every attempt is a step of its own', () => {
  it.each<{ name: string; scripts: readonly Script[]; policy: CallPolicy }>([
    {
      name: 'gives up at the last model',
      scripts: [
        { name: 'a', codes: ['AUTHENTICATION_ERROR'] },
        { name: 'b', codes: ['SERVER_ERROR', 'SERVER_ERROR', 'TIMEOUT', 'OVERLOADED'] },
      ],
      policy: {},
    },
    {
      name: 'asks nobody too early',
      scripts: [
        { name: 'a', codes: ['RATE_LIMITED'], retryAfterMs: 90_000 },
        { name: 'b', codes: ['QUOTA_EXCEEDED'] },
        { name: 'a', codes: [] },
      ],
      policy: {},
    },
    {
      name: 'stops at a bound',
      scripts: [{ name: 'a', codes: ['SERVER_ERROR', 'SERVER_ERROR', 'SERVER_ERROR'] }],
      policy: { limits: { maxRequests: 2 } },
    },
    {
      name: 'waits as asked and succeeds',
      scripts: [{ name: 'a', codes: ['RATE_LIMITED', 'RATE_LIMITED'], retryAfterMs: 700 }],
      policy: {},
    },
    {
      name: 'is patient',
      scripts: [{ name: 'a', codes: Array.from({ length: 20 }, () => 'OVERLOADED' as const) }],
      policy: { retry: 'patient' },
    },
  ])('comes to the same as one in memory: $name', async ({ scripts, policy }) => {
    const [inMemory, journalled] = [scene(policy), scene(policy)];
    const targetsIn = ({ clock }: Scene): readonly CallTarget<string>[] =>
      scripts.map((script) => targetOf(script, clock));
    const expected = await inMemory.clock.runUntil(runAttempts(targetsIn(inMemory), inMemory.options));
    const ended = await journalled.clock.runUntil(runJournalled(targetsIn(journalled), journalled));
    expect(asJson(ended)).toEqual(asJson(expected));
    expect(journalled.events).toEqual(inMemory.events);
    expect(ended.report.attempts.length).toBeGreaterThan(0);
  });
});
