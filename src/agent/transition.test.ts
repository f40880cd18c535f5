import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { playRandomly, smallConfig, textAnswer, workOf } from '../../test/agent/random-run.ts';
import type { Chances, Step } from '../../test/agent/random-run.ts';
import { countRungs, findCallProblems, findStepProblems } from '../../test/agent/run-problems.ts';
import { createFailure } from '../errors/failure.ts';
import { findHistoryProblems } from '../model/check/check-history.ts';
import { messagesOf } from './turn/history.ts';
import type { RunConfig } from './config.ts';
import type { MachineEvent } from './event.ts';
import { outcomeOf } from './outcome.ts';
import { replay } from './replay.ts';
import type { RunState } from './state.ts';
import { transition } from './transition.ts';

const anyChances: fc.Arbitrary<Chances> = fc.record({
  seed: fc.nat(),
  resumptions: fc.integer({ min: 0, max: 4 }),
  shutdown: fc.constantFrom(0, 0, 0.01),
  failure: fc.constantFrom(0, 0.02, 0.1, 0.5, 0.9),
  calls: fc.constantFrom(0.5, 0.9, 0.99, 1),
  outage: fc.constantFrom(0, 0.95),
  variety: fc.constantFrom(1, 3, 100),
});

const anyConfig: fc.Arbitrary<RunConfig> = fc
  .record({
    salvage: fc.boolean(),
    hasOutput: fc.boolean(),
    inDoubt: fc.constantFrom('ask', 'tell'),
    maxTurns: fc.constantFrom(1, 20, 40, 40),
    maxToolCalls: fc.constantFrom(0, 5, 200, 200),
    maxToolFailures: fc.constantFrom(2, 50),
    maxFailedTurns: fc.constantFrom(3, 50),
    maxRejections: fc.constantFrom(2, 50),
    maxToolAttempts: fc.constantFrom(1, 2, 4),
    maxRequests: fc.constantFrom(10, 1000, 1000),
    timeoutMs: fc.constantFrom(20_000, 36_000_000, 36_000_000),
    approvalTimeoutMs: fc.constantFrom(1, 60_000, 3_600_000),
  })
  .map(({ salvage, hasOutput, inDoubt, ...limits }) => smallConfig({ salvage, hasOutput, inDoubt }, limits));

/** Holds of every random run. */
function always(holds: (steps: readonly Step[], chances: Chances) => void, numRuns = 300): void {
  fc.assert(
    fc.property(anyConfig, anyChances, (config, chances) => holds(playRandomly(config, chances), chances)),
    { numRuns, seed: 4 },
  );
}

function eventsOf(steps: readonly Step[]): readonly MachineEvent[] {
  return steps.map(({ event }) => event);
}

function lastOf(steps: readonly Step[]): RunState {
  return (steps.at(-1) as Step).moved.state; // A run has a first step.
}

/** The most events that any run of this agent may see: every one uses up something that is counted. */
function mostEvents({ limits, models, retry }: RunConfig, resumptions: number): number {
  const perCall = models.length * retry.maxAttempts * 2;
  const calls = (limits.maxTurns + 1 + resumptions) * (limits.maxContinuations + 2);
  const perToolCall = limits.maxToolAttempts * 5;
  return 1 + calls * perCall + limits.maxToolCalls * perToolCall + resumptions * 3 + limits.maxTurns;
}

/** Works, ends, reasons, rungs and tellings, all by name. */
const everything = `
  call-model wait run-tools verify-tools ask-person suspend finish
  completed stopped failed cancelled suspended waiting-for-tools
  max-turns budget deadline loop rejected guardrail refused
  approval in-doubt long-wait credit credentials
  retry splice fall-back nudge continue re-ask compact tell-model withdraw-tool
  verify salvage tool-restored tool-withdrawn history-compacted text-retracted
`
  .trim()
  .split(/\s+/);

/** Their answer and their results are only in the conversation once all of them are settled. */
function hasOpenCalls({ phase }: RunState): boolean {
  const waiting = phase.type === 'suspended' ? phase.back : phase;
  return ['running-tools', 'waiting-for-tools', 'asking'].includes(waiting.type);
}

const shutdowns: readonly MachineEvent[] = [
  { type: 'cancelled' },
  { type: 'broken', failure: createFailure('INTERNAL', { message: 'A part broke' }) },
  { type: 'halted', failure: createFailure('HOOK_TERMINATED', { message: 'A guardrail said no' }) },
];

describe('transition, whatever happens', () => {
  it('refuses every event that has no meaning, and changes nothing', () => {
    let refused = 0;
    always((steps) => {
      const events = eventsOf(steps);
      for (const { moved } of steps) {
        for (const event of events) {
          const tried = transition(moved.state, structuredClone(event));
          if (tried.invalid === undefined) continue;
          refused += 1;
          expect(tried.state).toBe(moved.state);
          expect(tried).toMatchObject({ actions: [], invalid: { code: 'INVALID_STATE', origin: 'agent' } });
        }
      }
    }, 30);
    expect(refused).toBeGreaterThan(1000);
  });

  it('takes the events of another run without ever being stuck or broken', () => {
    fc.assert(
      fc.property(anyConfig, anyChances, anyChances, (config, one, other) => {
        const strange = eventsOf(playRandomly(config, other)).slice(1);
        let { state } = transition(undefined, {
          type: 'run-started',
          runId: 'run',
          config,
          messages: [{ role: 'user', content: 'Do it.' }],
          repairs: [],
        });
        for (const event of [...eventsOf(playRandomly(config, one)).slice(1), ...strange]) {
          const moved = transition(state, event);
          expect(moved.invalid === undefined ? 1 : 0).toBe(
            moved.actions.filter(({ type }) => type !== 'tell').length,
          );
          expect(findHistoryProblems(messagesOf(moved.state.history))).toEqual([]);
          state = moved.state;
        }
        const ended = replay([{ type: 'cancelled' }], state);
        expect(findHistoryProblems(ended === undefined ? [] : messagesOf(ended.history))).toEqual([]);
      }),
      { numRuns: 200, seed: 4 },
    );
  });

  it('is never stuck, never over a bound, never with a history that no provider takes, never falsely done', () => {
    always((steps) => {
      expect(steps.flatMap(findStepProblems)).toEqual([]);
    }, 1000);
  });

  it('comes to an end, or waits for somebody outside, within a bound that can be computed', () => {
    always((steps, { resumptions }) => {
      const { state } = (steps.at(-1) as Step).moved;
      expect(['ended', 'suspended']).toContain(state.phase.type);
      expect(steps.length).toBeLessThanOrEqual(mostEvents(state.config, resumptions));
    });
  });

  it('meets everything that can be met in these runs', () => {
    const seen = new Set<string>();
    always((steps) => {
      for (const { moved } of steps) {
        const { phase } = moved.state;
        seen.add(phase.type === 'ended' ? phase.end : phase.type);
        if ('reason' in phase) seen.add(phase.reason);
        for (const action of moved.actions) {
          if (action.type !== 'tell') seen.add(action.type);
          else seen.add(action.event.type === 'recovery' ? action.event.recovery : action.event.type);
        }
      }
    }, 1500);
    expect(everything.filter((name) => !seen.has(name))).toEqual([]);
  });

  it('can be shut down anywhere, and leaves a valid history and all that was said', () => {
    always((steps) => {
      for (const { moved } of steps.filter(({ moved: { state } }) => state.phase.type !== 'ended')) {
        for (const event of shutdowns) {
          const { state, actions } = transition(moved.state, event);
          expect(state.phase.type).toBe('ended');
          expect(actions).toEqual([{ type: 'finish' }]);
          expect(findHistoryProblems(messagesOf(state.history))).toEqual([]);
          expect(messagesOf(state.history).slice(0, messagesOf(moved.state.history).length)).toEqual(
            messagesOf(moved.state.history),
          );
          expect(messagesOf(state.history).length - messagesOf(moved.state.history).length).toBe(
            hasOpenCalls(moved.state) ? 2 : 0,
          );
          expect(state.elapsedMs).toBeGreaterThanOrEqual(moved.state.elapsedMs);
          expect(outcomeOf(state)?.usage.requests).toBeGreaterThanOrEqual(moved.state.ledger.requests);
        }
      }
    }, 20);
  });

  it('gives the same state for the same events, also after they and it have been JSON', () => {
    always((steps) => {
      const last = lastOf(steps);
      const events = eventsOf(steps);
      const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
      expect(replay(events)).toEqual(last);
      expect(asJson(last)).toStrictEqual(asJson(replay(asJson(events) as typeof events)));
      expect(asJson(last)).toEqual(last);
    }, 150);
  });

  it('goes on the same from a state that was JSON in between', () => {
    always((steps) => {
      for (const { before, event, moved } of steps.slice(1)) {
        const carried = JSON.parse(JSON.stringify(before)) as RunState;
        expect(transition(carried, event)).toEqual(moved);
      }
    }, 40);
  });

  it('runs what may happen once only again only where it did not happen, and what is asked about only after a yes', () => {
    let once = 0;
    always((steps) => {
      expect(findCallProblems(steps)).toEqual([]);
      once += steps.filter(({ moved }) => workOf(moved)?.type === 'verify-tools').length;
    }, 1000);
    expect(once).toBeGreaterThan(50);
  });

  it('takes no rung more often than its limit', () => {
    always((steps, { resumptions }) => {
      const { limits } = lastOf(steps).config;
      const stretches = 1 + resumptions;
      expect(countRungs(steps, 're-ask')).toBeLessThanOrEqual(limits.maxReasks * stretches);
      expect(countRungs(steps, 'salvage')).toBeLessThanOrEqual(stretches);
    });
  });

  it('nudges a model that never says anything only so often, however it says nothing', () => {
    const config = smallConfig({}, { maxTurns: 50 });
    const begun = transition(undefined, {
      type: 'run-started',
      runId: 'run',
      config,
      messages: [{ role: 'user', content: 'Do it.' }],
      repairs: [],
    });
    const blank: MachineEvent = {
      type: 'attempt-finished',
      step: {
        type: 'success',
        value: textAnswer('  '),
        charge: {},
        isProbe: false,
        waitedMs: 0,
        durationMs: 1,
        wallMs: 5,
      },
    };
    const state = replay([blank, blank, blank], begun.state);
    expect(state?.phase).toMatchObject({ type: 'ended', end: 'failed', failure: { code: 'EMPTY_RESPONSE' } });
    expect(state?.recoveries).toEqual([]);
  });
});
