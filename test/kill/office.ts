import type { Random } from '../../src/base/clock.ts';
import { flow } from '../../src/flow/flow.ts';
import { handOff, handOffTool } from '../../src/flow/hand-off.ts';
import type { Message } from '../../src/model/message.ts';
import { createAgent } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ScriptedModel, ScriptEntry } from '../../src/testing/scripted-model.ts';
import { createClerkTools, resultsIn, textsOf } from './clerk.ts';
import type { Plan } from './clerk.ts';
import { callOf, plannedId } from './ledger.ts';
import type { Ledger } from './ledger.ts';

// Several agents: two side by side, of which one passes the conversation on, and one after them. Each has the calls of a plan.

/** What all of them have in common. */
export type Surroundings = Pick<
  Parameters<typeof createAgent>[0],
  'store' | 'clock' | 'leaseMs' | 'limits' | 'callbacks'
>;

/** By agent: the name of its run below the first one, and to whom it passes the conversation on. */
const staff = {
  triage: { place: 'desk/0-triage', passesTo: 'clerk' },
  clerk: { place: 'desk/1-clerk', passesTo: undefined },
  till: { place: 'till', passesTo: undefined },
  closing: { place: 'closing', passesTo: undefined },
} as const;

type Name = keyof typeof staff;

/** What a run of the office is asked: each agent has a plan of its own. */
export function writeOfficeTask(runId: string, draw: () => Plan): string {
  const planOf: Record<Name, Plan> = { triage: draw(), clerk: draw(), till: draw(), closing: draw() };
  return JSON.stringify({ runId, plans: planOf } satisfies TaskText);
}

interface TaskText {
  readonly runId: string;
  readonly plans: Readonly<Record<Name, Plan>>;
}

/** The flow: `(desk | till) >> closing`, where the desk is a hand-off. */
export function createOffice(
  ledger: Ledger,
  { random, ...shared }: Surroundings & { readonly random: Random },
): Agent {
  const { limits = {} } = shared;
  const make = (name: Name): Agent =>
    createAgent({
      name,
      model: createModel(ledger, name),
      tools: createClerkTools(ledger, random),
      limits,
    });
  const desk = handOff({ agents: { triage: make('triage'), clerk: make('clerk') }, start: 'triage', limits });
  return flow('(desk | till) >> closing', {
    name: 'office',
    agents: { desk, till: make('till'), closing: make('closing') },
    nodes: { closing: { input: ({ task }) => task } },
    ...shared,
  }) as Agent; // They answer in words.
}

function createModel(ledger: Ledger, name: Name): ScriptedModel {
  return scriptedModel(({ messages }) => nextStep(ledger, name, messages));
}

/** What was said before the conversation was passed on is another agent's. */
function nextStep(ledger: Ledger, name: Name, messages: readonly Message[]): ScriptEntry {
  const [task] = messages;
  const { runId: top, plans } = JSON.parse(task === undefined ? '' : textsOf(task)) as TaskText;
  const { place, passesTo } = staff[name];
  const runId = `${top}/${place}`;
  const plan = plans[name];
  const own = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const results = resultsIn(own);
  const step = own.filter(({ role }) => role === 'assistant').length;
  ledger.add({ kind: 'asked', runId, plan, step, results });
  const names = plan[step];
  if (names === undefined && passesTo !== undefined)
    return {
      toolCalls: [{ name: handOffTool, callId: 'pass', arguments: { to: passesTo, reason: 'Next.' } }],
    };
  if (names === undefined) return `Done: ${Object.keys(results).length} calls.`;
  return {
    toolCalls: names.map((each, index) => {
      const callId = plannedId(runId, step, index);
      return { name: each, callId, arguments: { call: callOf({ runId, callId }) } };
    }),
  };
}
