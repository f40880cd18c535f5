import { flow } from '../flow/flow.ts';
import { plan } from '../flow/plan/plan.ts';
import { handOff } from '../flow/hand-off.ts';
import { team } from '../flow/team.ts';
import type { Model } from '../model/model.ts';
import type { AgentOptions } from '../runtime/agent-options.ts';
import { createAgent } from '../runtime/create-agent.ts';
import type { Agent } from '../runtime/create-agent.ts';
import { maxAttempts } from './plan.ts';
import type { PlannedMember, Scripted } from './plan-family.ts';
import { noteTook } from '../runtime/tool-call/quick-tools.ts';
import type { SabotagedProcess } from './sabotage.ts';
import { simModel } from './sim-model.ts';
import type { SimModelOf } from './sim-model.ts';
import { createCapabilities, replyToPlan } from './sim-plan.ts';
import type { SimProcess } from './sim-process.ts';
import { createSimTools } from './sim-tools.ts';

/** Where an agent works. Those below have it from the one above. */
interface Place {
  readonly about: SabotagedProcess;
  readonly surroundings: Pick<AgentOptions, 'store' | 'clock' | 'random' | 'gates' | 'callbacks'>;
}

/** Makes the agent that a plan wants, with all that are below it. */
export function createMember(process: SimProcess, member: PlannedMember, place: Place): Agent {
  const { surroundings } = place;
  if (member.type === 'agent') return createScripted(process, member, place);
  const { name } = member;
  if (member.type === 'plan') return createPlanned(process, member, place);
  const below: Place = { ...place, surroundings: {} };
  const agents = Object.fromEntries(
    member.members.map((each) => [each.name, createMember(process, each, below)]),
  );
  if (member.type === 'team') {
    const lead = createScripted(process, { ...member, type: 'agent' }, place);
    return team({ lead, agents });
  }
  if (member.type === 'hand-off')
    return handOff({ name, agents, start: member.start, ...surroundings }) as Agent; // They answer in words.
  const nodes = member.retry ? Object.fromEntries(Object.keys(agents).map((each) => [each, { retry }])) : {};
  return flow(member.shape, { name, agents, nodes, ...surroundings }) as Agent; // As above.
}

/** Attempts at a node, where a plan wants it to be tried again. */
export const nodeAttempts = 2;
const retry = { maxAttempts: nodeAttempts } as const;

function createPlanned(
  process: SimProcess,
  member: Extract<PlannedMember, { type: 'plan' }>,
  { about, surroundings }: Place,
): Agent {
  const { name, approvePlan } = member;
  const model = createModels(process, member, { about, reply: (request) => replyToPlan(member, request) });
  const capabilities = createCapabilities(process, member);
  return plan({ name, model, capabilities, approvePlan, extractTask: false, ...surroundings });
}

function createModels(
  process: SimProcess,
  { name, scripts }: Pick<Scripted, 'name' | 'scripts'>,
  { about, reply }: Pick<Place, 'about'> & Pick<SimModelOf, 'reply'>,
): readonly Model[] {
  const { plan: planned, sabotage } = process.world;
  return Array.from({ length: planned.models }, (_, index) => {
    const model = simModel(process, { name, scripts, index, reply });
    return sabotage.model?.(model, about) ?? model;
  });
}

function createScripted(
  process: SimProcess,
  { name, scripts }: Scripted,
  { about, surroundings }: Place,
): Agent {
  const { plan: planned, sabotage } = process.world;
  const tools = createSimTools(process, scripts).map((tool) => sabotage.tool?.(tool, about) ?? tool);
  if (planned.isPractised) for (const tool of tools) noteTook(tool, 0);
  return createAgent({
    name,
    model: createModels(process, { name, scripts }, { about }),
    tools,
    // Below others it has time: what is stopped there is begun afresh, which is another run.
    limits: { maxTurns: name === 'sim' ? planned.maxTurns : 20 },
    policy: { inDoubt: planned.inDoubt, retry: { maxAttempts } },
    ...surroundings,
  });
}
