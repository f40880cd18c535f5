import type { PersonRequest } from '../agent/run-outcome.ts';
import { isRecord } from '../base/json.ts';
import type { RunAnswer } from '../agent/approval/run-answer.ts';
import { createGates } from '../runtime/model-call/gates.ts';
import { createMember } from './sim-members.ts';
import type { SabotagedProcess } from './sabotage.ts';
import { beginProcess, reach } from './sim-process.ts';
import type { SimProcess } from './sim-process.ts';
import { frailStore, watchedStore } from './sim-store.ts';
import { decide, findOut } from './sim-tools.ts';
import { never, tell } from './world.ts';
import type { World } from './world.ts';

/** Starts a process with an agent on the same disk as all others. */
export function startProcess(world: World): SimProcess {
  const { plan, sabotage } = world;
  const process = beginProcess(world);
  const about: SabotagedProcess = {
    life: process.life,
    clock: process.clock,
    isDead: () => process.isDead,
  };
  const frail = frailStore(process);
  const store = watchedStore(process, sabotage.store?.(frail, about) ?? frail);
  const agent = createMember(process, plan.top, {
    about,
    surroundings: {
      store,
      clock: process.clock,
      random: plan.random,
      gates: createGates({ clock: process.clock }),
      callbacks: plan.features.has('callback')
        ? { onApproval: (request) => answerInside(process, request) }
        : {},
    },
  });
  process.store = store;
  process.agent = sabotage.agent?.(agent, about) ?? agent;
  tell(world, '-- a process begins');
  return process;
}

function answerInside(process: SimProcess, request: PersonRequest): RunAnswer | Promise<RunAnswer> {
  if (reach(process, 'before approval')) return never();
  const answer = answerOf(process.world, request);
  tell(process.world, `somebody in the process answers: ${JSON.stringify(answer)}`);
  return reach(process, 'after approval') ? never() : answer;
}

/** What a person says to a request: the same to the same one, and the truth. */
export function answerOf(world: World, request: PersonRequest): RunAnswer {
  const { id } = request;
  if (request.type === 'mend') return { id, approved: true };
  if (request.type === 'question') return { id, answer: 'As you see fit.' };
  const call = isRecord(request.input) ? request.input['call'] : undefined;
  // A step of a plan is named as its call is.
  const callId = typeof call === 'string' ? call : request.tool;
  if (!world.plan.calls.has(callId)) return { id, approved: true };
  if (request.type === 'approval') return { id, approved: decide(world, callId) };
  const { happened } = findOut(world, callId);
  return happened === 'unknown' ? { id, type: 'unknown' } : { id, happened };
}
