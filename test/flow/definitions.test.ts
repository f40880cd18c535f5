import { expect, it } from 'vitest';
import { parallel, sequence } from '../../src/flow/build-flow.ts';
import { flow } from '../../src/flow/flow.ts';
import { handOff } from '../../src/flow/hand-off.ts';
import { capability } from '../../src/flow/plan/capability.ts';
import { plan } from '../../src/flow/plan/plan.ts';
import { team } from '../../src/flow/team.ts';
import { createAgent } from '../../src/runtime/create-agent.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { plainTool } from '../agent/scene.ts';

// One sentence that names the node and the way to mend it.

const a = createAgent({ name: 'a', model: scriptedModel([]) });
const b = createAgent({ name: 'b', model: scriptedModel([]) });
const counts = createAgent({
  name: 'counts',
  model: scriptedModel([]),
  output: { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] },
});
const stored = createAgent({ name: 'stored', model: scriptedModel([]), store: memoryStore() });
const handy = createAgent({
  name: 'handy',
  model: scriptedModel([]),
  tools: [plainTool({ name: 'hand_off', execute: () => '' }), plainTool({ name: 'a', execute: () => '' })],
});
const agents = { a, b };
const waits = capability({ name: 'waits', description: 'Waits.', execute: () => undefined });

interface Bad {
  readonly what: string;
  readonly make: () => unknown;
  readonly words: RegExp;
  readonly code?: string;
}

const bad: readonly Bad[] = [
  { what: 'an empty flow', make: () => flow('', { agents }), words: /empty|no node/i },
  { what: 'an unknown name', make: () => flow('a >> bb', { agents }), words: /"bb".*did you mean "b"/ },
  {
    what: 'a name twice',
    make: () => flow('a >> a', { agents }),
    words:
      /The node "a" is in the flow twice.*give the second one a name of its own in "agents": \{ a, a2: a \}/,
  },
  { what: 'a missing end', make: () => flow('a >> (b', { agents }), words: /\)/ },
  {
    what: 'a circle',
    make: () =>
      flow(
        {
          type: 'graph',
          edges: [
            ['a', 'b'],
            ['b', 'a'],
          ],
        },
        { agents },
      ),
    words: /a → b → a|b → a → b/,
    code: 'FLOW_CYCLE',
  },
  {
    what: 'no agents',
    make: () => flow('a', { agents: {} }),
    words: /^The flow "flow" has no agents: give at least one/,
  },
  {
    what: 'agents that are none',
    make: () => flow('a', { agents: { a: {} as typeof a } }),
    words: /"a" of the agents .* is no agent: make it with createAgent/,
  },
  {
    what: 'no object of agents',
    make: () => flow('a', { agents: undefined as never }),
    words: /needs "agents"/,
  },
  {
    what: 'two agents of one name',
    make: () => flow('a', { agents: [a, a] as never }),
    words: /Two agents .* are named "a": give one of them another name/,
  },
  {
    what: 'a store only below',
    make: () => flow('stored', { agents: { stored } }),
    words: /has no store, but its agent "stored" has: give the store to the agent where the work starts/,
  },
  {
    what: 'options of a node that is not there',
    make: () => flow('a', { agents, nodes: { b: { retry: 'quick' } } }),
    words: /"b"/,
  },
  {
    what: 'a fallback that nobody is',
    make: () => flow('a', { agents, nodes: { a: { onError: { fallback: 'z' } } } }),
    words: /"a".*"z"|"z".*"a"/,
  },
  {
    what: 'a fallback to itself',
    make: () => flow('a', { agents, nodes: { a: { onError: { fallback: 'a' } } } }),
    words: /"a"/,
  },
  {
    what: 'an option of a node that nobody knows',
    make: () => flow('a', { agents, nodes: { a: { retries: 3 } as object } }),
    words: /"retries" of the node "a": known are retry, timeoutMs/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'an option of the flow that nobody knows',
    make: () => flow('a', { agents, polices: {} } as never),
    words: /"polices".*did you mean "policy"/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'a policy that only the agents below can have',
    make: () => flow('a', { agents, name: 'desk', policy: { retry: 'quick' } as object }),
    words: /There is no option "retry" of "policy" of "desk": known are permissions, inDoubt/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'a name that reads as one of an agent below',
    make: () => flow('a', { agents, name: 'desk/a' }),
    words: /"name" of createAgent\(\) must not contain "\/", which separates the names of child agents/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'such a name of an agent',
    make: () => createAgent({ name: 'desk/a', model: scriptedModel([]) }),
    words: /"name" of createAgent\(\) must not contain "\/"/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'such a name of a team',
    make: () => team({ name: 'desk/a', lead: a, agents: { b } }),
    words: /"name" of team\(\) must be a text without "\/"/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'a retry that is none',
    make: () => flow('a', { agents, nodes: { a: { retry: 'often' as 'quick' } } }),
    words: /"retry" of the node "a" cannot be used: .*got often/,
  },
  {
    what: 'a time that is none',
    make: () => flow('a', { agents, nodes: { a: { timeoutMs: -1 } } }),
    words: /"timeoutMs" of the node "a" must be a number above 0/,
  },
  {
    what: 'an output that the next does not take',
    make: () => flow('counts >> a', { agents: { counts, a }, nodes: { a: { accepts: { type: 'string' } } } }),
    words: /"a".*"counts"|"counts".*"a"/,
  },
  {
    what: 'a builder with an unknown name',
    make: () => flow(sequence('a', parallel('b', 'zz')) as never, { agents }),
    words: /"zz"/,
  },
  {
    what: 'a shape that is none',
    make: () => flow(7 as never, { agents }),
    words: /A flow is a text such as "a >> b", or what sequence/,
  },
  {
    what: 'a hand-off without a start',
    make: () => handOff({ agents, start: 'aa' as 'a' }),
    words: /"start" of the hand-off "hand-off" names no agent: did you mean "a"/,
  },
  {
    what: 'a hand-off without end',
    make: () => handOff({ agents, start: 'a', maxHandoffs: 0 }),
    words: /"maxHandoffs".*from 1 to 100/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'a tool in the way of a hand-off',
    make: () => handOff({ agents: { handy }, start: 'handy' }),
    words: /The agent "handy" has a tool named "hand_off".*rename it/,
  },
  {
    what: 'a tool in the way of a member',
    make: () => team({ lead: handy, agents: { a } }),
    words: /The lead "handy" has a tool named "a" already: give the agent another name/,
  },
  {
    what: 'a lead that is none',
    make: () => team({ lead: {} as typeof a, agents }),
    words: /"lead" of team\(\) must be an agent/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'a member that is none',
    make: () => team({ lead: a, agents: { b }, members: { c: {} } as never }),
    words: /"c"/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'a description of a member that is none',
    make: () => team({ lead: a, agents: { b }, members: { b: { description: 5 } } as never }),
    words: /"description" of the member "b" must be a text, got number/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'a time of a member that is none',
    make: () => team({ lead: a, agents: { b }, members: { b: { timeoutMs: 0 } } }),
    words: /"timeoutMs" of the member "b" must be a number above 0, got 0/,
    code: 'CONFIG_ERROR',
  },
  {
    what: 'bounds of a plan that are none',
    make: () => plan({ model: scriptedModel([]), capabilities: [waits], bounds: 5 as never }),
    words: /"bounds" of plan\(\) must be an object: \{ maxSteps: 40 \}/,
  },
  {
    what: 'a bound of a plan that nobody knows',
    make: () => plan({ model: scriptedModel([]), capabilities: [waits], bounds: { maxStep: 1 } as object }),
    words: /There is no bound "maxStep" of plan\(\): did you mean "maxSteps"\?/,
  },
  {
    what: 'a flow that is too long',
    make: () => flow(`${'a >> '.repeat(1001)}a`, { agents }),
    words: /there are more than 1000 nodes: make several flows of it/,
  },
  {
    what: 'a name of a member that no model may call',
    make: () => team({ lead: a, agents: { 'my agent': b } }),
    words: /"my agent" cannot be the name of a node: a name begins with a letter/,
  },
];

it.each(bad)('$what is told of in one sentence', ({ make, words, code = 'FLOW_INVALID' }) => {
  const failure = failureOf(make);
  expect(failure.message).toMatch(words);
  expect(failure.message).not.toMatch(/\n\n|undefined|\[object/);
  expect(failure.code).toBe(code);
});

interface Thrown {
  readonly code: string;
  readonly message: string;
}

function failureOf(make: () => unknown): Thrown {
  try {
    make();
  } catch (error) {
    return error as Thrown;
  }
  throw new Error('It was taken');
}
