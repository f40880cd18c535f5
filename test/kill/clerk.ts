import type { RunAnswer } from '../../src/index.ts';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/base/clock.ts';
import { textOf } from '../../src/model/message.ts';
import type { Message } from '../../src/model/message.ts';
import type { Permission, Tool, ToolContext, ToolEffect, Verified } from '../../src/model/tool.ts';
import { tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ScriptedModel, ScriptEntry } from '../../src/testing/scripted-model.ts';
import { callOf } from './ledger.ts';
import type { Ledger } from './ledger.ts';

// What an agent of these tests consists of. It keeps nothing in memory that it would need after a crash: the model answers from
// the conversation it is shown, and the tools from the ledger.

/** Steps one after the other, the calls of a step together. */
export type Plan = readonly (readonly string[])[];

type ToolName = 'look' | 'note' | 'pay' | 'charge' | 'wire' | 'burn';

/** Every class of effects, alone and side by side. */
export const plans: readonly Plan[] = [
  [['look'], ['note'], ['pay']],
  [['pay', 'note', 'look'], ['charge']],
  [['wire'], ['pay', 'pay']],
  [['burn', 'note'], ['look'], ['charge', 'pay']],
  [['note', 'note', 'charge'], ['wire', 'look'], ['pay']],
];

/** What a run is asked. */
export function writeTask(runId: string, plan: Plan): string {
  return JSON.stringify({ runId, plan });
}

/** A model that does what the task says, step by step, and tells the ledger what it was shown. */
export function createClerkModel(ledger: Ledger): ScriptedModel {
  return scriptedModel(({ messages }) => nextStep(ledger, messages));
}

function nextStep(ledger: Ledger, messages: readonly Message[]): ScriptEntry {
  const [task] = messages;
  const { runId, plan } = JSON.parse(task === undefined ? '' : textsOf(task)) as TaskText;
  const results = resultsIn(messages);
  const step = messages.filter(({ role }) => role === 'assistant').length;
  ledger.add({ kind: 'asked', runId, plan, step, results });
  const names = plan[step];
  if (names === undefined) return `Done: ${Object.keys(results).length} calls.`;
  return {
    toolCalls: names.map((name, index) => {
      const callId = `${step}.${index}`;
      return { name, callId, arguments: { call: callOf({ runId, callId }) } };
    }),
  };
}

/** The results that a conversation shows, by call. */
export function resultsIn(messages: readonly Message[]): Readonly<Record<string, string>> {
  const results: Record<string, string> = {};
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    for (const part of message.content) results[part.callId] = JSON.stringify(part.content).slice(0, 200);
  }
  return results;
}

interface TaskText {
  readonly runId: string;
  readonly plan: Plan;
}

/** What a message says. */
export function textsOf({ content }: Message): string {
  return typeof content === 'string' ? content : textOf(content);
}

/** How long a tool takes after it has acted and before it returns, at most. */
const maxActedMs = 8;

/** One tool for every class of effects. */
export function createClerkTools(ledger: Ledger, random: Random): readonly Tool[] {
  const act = async (name: string, { runId, callId, idempotencyKey: key }: ToolContext): Promise<string> => {
    await sleep(random() * 4);
    const place = { runId, callId, tool: name, key };
    const known = name === 'note' ? ledger.find(key) : undefined;
    // A receipt of its own for every time: what was done twice cannot look as if it were done once.
    const receipt = known?.receipt ?? randomUUID();
    ledger.add(known === undefined ? { ...place, kind: 'effect', receipt } : { ...place, kind: 'repeat' });
    await sleep(random() * maxActedMs);
    return receipt;
  };
  const make = (name: ToolName, effect: ToolEffect, more: More = {}): Tool =>
    tool({
      name,
      description: `Does what "${name}" says.`,
      input: { type: 'object', properties: { call: { type: 'string' } } },
      effect,
      timeoutMs: 200_000,
      ...more,
      execute: (_input, context) => act(name, context),
    });
  return [
    make('look', 'read'),
    make('note', 'idempotent'),
    make('pay', 'once'),
    // Its time is short, for a check must outlive it.
    make('charge', 'once', {
      timeoutMs: 5000,
      verify: (_input, { idempotencyKey }) => {
        const line = ledger.find(idempotencyKey);
        return line === undefined ? { happened: false } : { happened: true, result: line.receipt };
      },
    }),
    make('wire', 'once', { permission: 'ask' }),
    make('burn', 'once', { permission: 'ask' }),
  ];
}

interface More {
  readonly timeoutMs?: number;
  readonly permission?: Permission;
  readonly verify?: (input: unknown, context: ToolContext) => Verified;
}

/** What a person says who was asked: yes to all but burning, and the truth, from the ledger, about what may have happened. */
export function answerOf(ledger: Ledger, request: unknown): RunAnswer {
  const { type, tool: name, input } = request as Question;
  if (type === 'approval') return { approved: name !== 'burn' };
  const line = ledger.findCall(input.call);
  return line === undefined ? { happened: false } : { happened: true, result: line.receipt };
}

interface Question {
  readonly type: 'approval' | 'in-doubt';
  readonly tool: string;
  readonly input: { readonly call: string };
}
