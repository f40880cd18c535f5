import { assert } from '../base/assert.ts';
import type { RecordedCall } from '../agent/conducted.ts';
import type { NodeReport, RunOutcome } from '../agent/run-outcome.ts';
import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import type { Conductor, ConductorStep, ConductorView } from '../runtime/children/conductor.ts';
import { readChild } from './child-record.ts';

/** What an agent of a hand-off is called with, on record. */
export interface HopInput {
  /** From 0. */
  readonly hop: number;
  readonly from?: string;
  readonly reason?: string;
  /** It failed or was broken off before. */
  readonly isAgain?: true;
}

interface HandOffRules {
  readonly name: string;
  readonly start: string;
  readonly maxHandoffs: number;
}

/** Decides who has the conversation: pure, by what is on record. */
export function createHandOffConductor(rules: HandOffRules): Conductor {
  return { decide: (view) => decide(rules, view), report: reportHops };
}

function decide(rules: HandOffRules, { calls, resumes }: ConductorView): ConductorStep {
  const last = calls.at(-1);
  if (last === undefined) return callOf(rules.start, { hop: 0 });
  const { record, name } = last;
  assert(record !== undefined, `A decision was requested while "${name}" has the conversation`);
  const input = last.input as unknown as HopInput; // Written here.
  if (record.status === 'interrupted' || (record.status !== 'ok' && record.resumes < resumes))
    return callOf(name, { ...input, isAgain: true });
  if (record.status !== 'ok') return { type: 'fail', failure: failureOf(rules, last) };
  const { text, output, handOff } = readChild(record.content);
  if (handOff === undefined)
    return output === undefined ? { type: 'answer', text } : { type: 'answer', text, output };
  const { to, reason } = handOff;
  const hop = input.hop + 1;
  if (hop > rules.maxHandoffs) return { type: 'fail', failure: tooMany(rules, calls, to) };
  return callOf(to, { hop, from: name, reason });
}

function callOf(name: string, input: HopInput): ConductorStep {
  return { type: 'call', calls: [{ name, input: input as unknown as Json }] }; // Plain data.
}

function failureOf(
  { name: flow }: HandOffRules,
  { name, record }: RecordedCall,
): ReturnType<typeof createFailure> {
  const failure =
    record?.failure ?? createFailure('UNKNOWN', { origin: 'flow', message: 'It ended without a failure' });
  return createFailure(failure.code, {
    ...failure,
    message: `The agent "${name}" of the hand-off "${flow}" failed: ${failure.message}`,
    context: { ...failure.context, flow, node: name },
  });
}

function tooMany(
  { name, maxHandoffs }: HandOffRules,
  calls: readonly RecordedCall[],
  to: string,
): ReturnType<typeof createFailure> {
  const path = [...new Set(calls.map((call) => `${(call.input as unknown as HopInput).hop}:${call.name}`))] // Written here.
    .map((hop) => hop.slice(hop.indexOf(':') + 1))
    .slice(-shownHops);
  return createFailure('MAX_HANDOFFS_EXCEEDED', {
    origin: 'flow',
    message: `The hand-off "${name}" passed the conversation on ${maxHandoffs} times, and would pass it on to "${to}" now: … ${[...path, to].join(' → ')}`,
    hint: 'Check whether two agents pass it back and forth, and say in their instructions who decides. Otherwise raise "maxHandoffs".',
    context: { flow: name, maxHandoffs, path: [...path, to] },
  });
}

const shownHops = 6;

function reportHops({ calls }: ConductorView, outcome: RunOutcome): readonly NodeReport[] {
  const byHop = new Map<number, RecordedCall>();
  for (const call of calls) byHop.set((call.input as unknown as HopInput).hop, call); // Written here.
  return [...byHop.values()].map(({ name, record }): NodeReport => {
    const about = record?.childId === undefined ? { name } : { name, runId: record.childId };
    if (record?.status === 'ok') {
      const { text, handOff } = readChild(record.content);
      const reason =
        handOff === undefined ? {} : { reason: `passed on to "${handOff.to}": ${handOff.reason}` };
      return { ...about, status: 'succeeded', text, ...reason };
    }
    if (record === undefined || record.status === 'interrupted')
      return { ...about, status: outcome.type === 'suspended' ? 'waiting' : 'cancelled' };
    return {
      ...about,
      status: 'failed',
      ...(record.failure === undefined ? {} : { failure: record.failure }),
    };
  });
}
