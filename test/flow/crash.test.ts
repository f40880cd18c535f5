import { describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../src/agent/run-outcome.ts';
import { flow } from '../../src/flow/flow.ts';
import { team } from '../../src/flow/team.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { calling, callingAll, watchEverything } from '../agent/scene.ts';
import { countingTool, dyingStore, member, setStage } from './stage.ts';
import type { Death, Stage } from './stage.ts';

// The process dies at every single operation of its store, once before it is done and once after. Another one goes on.

watchEverything();

interface World {
  /** What really happened outside. */
  readonly paid: string[];
  readonly asked: string[];
}

type Make = (world: World, options: Stage['world']) => Agent<unknown>;

/** Pays once and says so; what it does next is read from the conversation, as a model does. */
function payer({ paid, asked }: World, who: string, permission: 'allow' | 'ask'): Agent {
  const pay = countingTool('pay', {
    permission,
    execute: () => {
      paid.push(who);
      return `${who} has paid`;
    },
  });
  return member(
    ({ messages }) => {
      asked.push(who);
      return messages.some(({ role }) => role === 'tool') ? `${who} is done` : calling('pay', { who });
    },
    { tools: [pay.tool] },
  ).agent;
}

function speaker({ asked }: World, who: string): Agent {
  return member(() => {
    asked.push(who);
    return `${who} is done`;
  }).agent;
}

const shapes: Readonly<Record<string, Make>> = {
  flow: (world, options) => {
    const inner = flow('b | c', {
      agents: { b: payer(world, 'b', 'allow'), c: payer(world, 'c', 'ask') },
      name: 'inner',
    });
    const agents = { a: speaker(world, 'a'), inner, d: payer(world, 'd', 'ask') };
    return flow('a >> (inner | d)', { agents, ...options });
  },
  team: (world, options) => {
    const { agent } = member(
      ({ messages }) => {
        world.asked.push('lead');
        if (messages.some(({ role }) => role === 'tool')) return 'All done.';
        return callingAll(['b', { task: 'Pay.' }], ['c', { task: 'Pay.' }]);
      },
      { name: 'lead', ...options },
    );
    return team({ lead: agent, agents: { b: payer(world, 'b', 'allow'), c: payer(world, 'c', 'ask') } });
  },
};

/** Goes on until there is an end, and answers what is asked: truly, where it is asked what happened. */
async function goOn(stage: Stage, made: Agent<unknown>, { paid }: World): Promise<RunOutcome> {
  let outcome = await stage.run(made);
  for (let round = 0; round < 12 && outcome.type === 'suspended'; round += 1) {
    const { request } = outcome;
    const who = request !== undefined && 'input' in request ? (request.input as { who: string }).who : '';
    const answer = request?.type === 'in-doubt' ? { happened: paid.includes(who), result: 'paid' } : true;
    outcome = await stage.resume(made, request === undefined ? {} : { answer });
  }
  return outcome;
}

interface Shown {
  readonly outcome: RunOutcome['type'];
  readonly paid: readonly string[];
  readonly statuses: readonly string[];
  readonly requests: number;
}

interface Story {
  readonly make: Make;
  readonly death: Death;
}

/** One process dies, another goes on: what came of it, and whether the first one was done before. */
async function tellStory({
  make,
  death,
}: Story): Promise<{ readonly shown: Shown; readonly wasDone: boolean }> {
  const world: World = { paid: [], asked: [] };
  const stage = setStage();
  const first = make(world, { ...stage.world, store: dyingStore(stage.store, death) });
  // Whatever it would still do after its death is nobody's any more.
  const unattended: Stage = {
    ...stage,
    run: (agent) => agent.run('Do it.', { runId: 'r1' }),
    resume: (agent, options) => agent.resume('r1', options),
  };
  let wasDone = false;
  void goOn(unattended, first, world).then(
    () => (wasDone = true),
    () => undefined,
  );
  await stage.clock.advance(1000);
  const outcome = await goOn(stage, make(world, stage.world), world);
  const shown: Shown = {
    outcome: outcome.type,
    paid: world.paid.toSorted(),
    statuses: Object.values(await stage.statuses()),
    requests: outcome.usage.requests,
  };
  return { shown, wasDone };
}

const expected: Readonly<Record<string, Shown>> = {
  flow: {
    outcome: 'completed',
    paid: ['b', 'c', 'd'],
    statuses: Array.from({ length: 6 }, () => 'completed'),
    requests: 7,
  },
  team: {
    outcome: 'completed',
    paid: ['b', 'c'],
    statuses: Array.from({ length: 3 }, () => 'completed'),
    requests: 6,
  },
};

describe.each(Object.keys(shapes).map((shape) => ({ shape })))('a $shape', ({ shape }) => {
  it.each(['before', 'after'] as const)(
    'loses nothing and does nothing twice, whenever its process dies: %s each operation',
    async (when) => {
      let deaths = 0;
      let isOver = false;
      for (let at = 1; !isOver && at < 500; at += 1) {
        const { shown, wasDone } = await tellStory({ make: shapes[shape] as Make, death: { at, when } });
        // Every request that is on record is counted once, whoever wrote it down.
        expect({ at, ...shown }).toEqual({ at, ...expected[shape] });
        deaths = at;
        isOver = wasDone;
      }
      expect(isOver).toBe(true);
      expect(deaths).toBeGreaterThan(30);
    },
    60_000,
  );
});
