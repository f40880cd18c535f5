import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RunOutcome } from '../../src/agent/run-outcome.ts';
import { flow } from '../../src/flow/flow.ts';
import { handOff } from '../../src/flow/hand-off.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { team } from '../../src/flow/team.ts';
import type { ScriptEntry } from '../../src/testing/scripted-model.ts';
import { calling, callingAll, watchEverything } from '../agent/scene.ts';
import { countingTool, longWait, member, setStage } from './stage.ts';
import type { Stage } from './stage.ts';

// However often nodes fail, wait, are tried again, are broken off and are gone on with, in however many processes: what the outcome
// says was used up is what the models were asked, each request once.

watchEverything();

type Step = 'look' | 'ask' | 'refused' | 'overloaded' | 'wait';
type Name = 'a' | 'b' | 'c' | 'lead';
type Scripts = Readonly<Record<Name, readonly Step[]>>;

interface Asked {
  requests: number;
  tokens: number;
}

const entries: Readonly<Record<Step, ScriptEntry>> = {
  look: calling('look'),
  ask: calling('ask'),
  refused: { failure: 'INVALID_REQUEST' },
  overloaded: { failure: 'OVERLOADED' },
  wait: { failure: longWait() },
};
const isAnswer: ReadonlySet<Step | undefined> = new Set(['look', 'ask', undefined]);

interface Telling {
  readonly asked: Asked;
  /** What the step `look` is to this one. */
  readonly look?: ScriptEntry;
}

/** The scripts are shared by all processes: each goes on where the one before ended. */
function makeAgent(name: Name, left: Record<Name, Step[]>, { asked, look }: Telling): Agent {
  const tools = [
    countingTool('look', { effect: 'read' }).tool,
    countingTool('ask', { permission: 'ask' }).tool,
  ];
  const { agent } = member(
    () => {
      const step = left[name].shift();
      asked.requests += 1;
      if (isAnswer.has(step)) asked.tokens += 15;
      if (step === 'look' && look !== undefined) return look;
      return step === undefined
        ? { text: `${name} is done`, delayMs: 100 }
        : { ...(entries[step] as object), delayMs: 100 };
    },
    { tools, policy: { retry: { maxAttempts: 2 } }, limits: { maxNudges: 1 } },
  );
  return agent;
}

type Make = (stage: Stage, left: Record<Name, Step[]>, asked: Asked) => Agent<unknown>;

const shapes: Readonly<Record<string, Make>> = {
  flow: ({ world }, left, asked) => {
    const inner = flow('b | c', {
      agents: { b: makeAgent('b', left, { asked }), c: makeAgent('c', left, { asked }) },
      nodes: { b: { retry: 'quick' } },
      name: 'inner',
    });
    const agents = { a: makeAgent('a', left, { asked }), inner, d: makeAgent('c', left, { asked }) };
    return flow('a >> (inner | d)', { agents, nodes: { d: { onError: 'skip' } }, ...world });
  },
  team: ({ world }, left, asked) => {
    const jobs = callingAll(['a', { task: '1' }], ['b', { task: '2' }]);
    const { agent } = member(
      () => {
        asked.requests += 1;
        asked.tokens += 15;
        return left.lead.shift() === undefined ? 'All done.' : jobs;
      },
      { name: 'lead', ...world },
    );
    const agents = { a: makeAgent('a', left, { asked }), b: makeAgent('b', left, { asked }) };
    return team({ lead: agent, agents, members: { a: { retry: 'quick' } } });
  },
  'hand-off': ({ world }, left, asked) => {
    const to = (name: string): ScriptEntry => calling('hand_off', { to: name, reason: 'not mine' });
    const agents = {
      a: makeAgent('a', left, { asked, look: to('b') }),
      b: makeAgent('b', left, { asked, look: to('a') }),
    };
    return handOff({ agents, start: 'a', ...world });
  },
};

const steps = fc.array(fc.constantFrom<Step>('look', 'ask', 'refused', 'overloaded', 'wait'), {
  maxLength: 4,
});
const story = fc.record({
  scripts: fc.record({
    a: steps,
    b: steps,
    c: steps,
    lead: fc.array(fc.constant<Step>('look'), { maxLength: 2 }),
  }),
  /** What is done before each resumption. */
  deeds: fc.array(fc.constantFrom('nothing', 'die', 'cancel'), { minLength: 8, maxLength: 8 }),
});

it.each(Object.keys(shapes).map((shape) => ({ shape })))(
  'a $shape says what all of its agents have used up together',
  async ({ shape }) => {
    await fc.assert(
      fc.asyncProperty(story, async ({ scripts, deeds }) => {
        const { outcome, asked } = await play(shapes[shape] as Make, scripts, deeds);
        const { usage } = outcome;
        expect({ requests: usage.requests, tokens: usage.inputTokens + usage.outputTokens }).toEqual(asked);
      }),
      { numRuns: 60 },
    );
  },
);

interface Played {
  readonly outcome: RunOutcome;
  readonly asked: Asked;
}

async function play(make: Make, scripts: Scripts, deeds: readonly string[]): Promise<Played> {
  const asked: Asked = { requests: 0, tokens: 0 };
  const left = { a: [...scripts.a], b: [...scripts.b], c: [...scripts.c], lead: [...scripts.lead] };
  let stage = setStage();
  let made = make(stage, left, asked);
  let outcome = await stage.run(made);
  for (const deed of deeds) {
    expect(outcome.usage.requests).toBe(asked.requests);
    if (outcome.type === 'completed' || outcome.type === 'stopped') break;
    if (deed === 'cancel') await stage.clock.runUntil(made.cancel('r1'));
    if (deed === 'die') {
      stage = stage.die();
      made = make(stage, left, asked);
    }
    await stage.clock.advance(2 * 3_600_000);
    const question = outcome.type === 'suspended' && outcome.request !== undefined && deed !== 'cancel';
    outcome = await stage.resume(made, question ? { answer: true } : {});
  }
  return { outcome, asked };
}
