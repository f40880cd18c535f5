import type { Json } from '../base/json.ts';
import { isRecord } from '../base/json.ts';
import { capability } from '../flow/plan/capability.ts';
import type { Capability } from '../flow/plan/plan-types.ts';
import { textOf } from '../model/message.ts';
import type { ModelRequest } from '../model/request.ts';
import type { PlannedCall } from './plan.ts';
import type { PlannedMember } from './plan-family.ts';
import { failureText, performCall, simTools, timeoutMs, verifyCall } from './sim-tools.ts';
import type { SimProcess } from './sim-process.ts';

type PlannedPlan = Extract<PlannedMember, { type: 'plan' }>;

/** The steps of a plan as capabilities, each named as its call is, and the one that takes the place of the one that fails. */
export function createCapabilities(
  process: SimProcess,
  { steps, other }: PlannedPlan,
): readonly Capability[] {
  const all = other === undefined ? steps : [...steps, other];
  return all.map((planned) => createCapability(process, planned));
}

function createCapability(process: SimProcess, { callId, tool }: PlannedCall): Capability {
  const { effect, canVerify, asks } = simTools[tool];
  return capability({
    name: callId,
    description: `A step of the effect ${effect}.`,
    provides: {},
    effect,
    timeoutMs,
    ...(asks === undefined ? {} : { permission: 'ask' as const }),
    classifyError: (error) =>
      error instanceof Error && error.message.includes(failureText)
        ? { severity: 'replanning', sideEffect: 'none' }
        : undefined,
    execute: async (_values, context) => {
      // Only what is thrown is judged by `classifyError`.
      const fail = (): never => {
        throw new Error(failureText);
      };
      await performCall(process, callId, { ...context, fail });
      return {};
    },
    ...(canVerify === undefined ? {} : { verify: () => verifyCall(process, callId) }),
  });
}

/** What the model of a plan says, and which question that is. */
export interface PlanReply {
  readonly question: string;
  readonly text: string;
}

/** Chooses everything, plans the steps in order, and plans around the one that has failed. */
export function replyToPlan({ steps, other }: PlannedPlan, { output, messages }: ModelRequest): PlanReply {
  const fields = isRecord(output?.schema) ? output.schema['properties'] : undefined;
  const said = messages.map(({ content }) => (typeof content === 'string' ? content : textOf(content)));
  const hasFailed = said.some((text) => text.includes(failureText));
  if (!isRecord(fields)) return { question: 'respond', text: 'All of it is done, as you wished.' };
  if ('capabilities' in fields) {
    const capabilities = [...steps, ...(other === undefined ? [] : [other])].map(({ callId }) => callId);
    return { question: 'classify', text: JSON.stringify({ capabilities, none: '' }) };
  }
  const failed = other === undefined ? -1 : failedIndex(steps);
  const left = hasFailed && other !== undefined ? [other, ...steps.slice(failed + 1)] : steps;
  const text = JSON.stringify({ steps: left.map(writeStep), question: '' });
  return { question: hasFailed ? 'replan' : 'plan', text };
}

/** The one that fails does so whenever it is taken. */
function failedIndex(steps: readonly PlannedCall[]): number {
  return steps.findIndex(({ failures }) => failures > 0);
}

function writeStep({ callId }: PlannedCall): Json {
  return { key: callId, capability: callId, objective: `Do ${callId}.`, inputs: [] };
}
