import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlowError } from '../errors/rerail-error.ts';
import { parallel, sequence } from './build-flow.ts';
import { createGraph } from './flow-graph.ts';
import type { FlowDefinition, FlowEdge, FlowGraph, FlowShape, NodeOptions } from './flow-types.ts';
import { readFlow } from './read-flow.ts';

type Nodes = Readonly<Record<string, NodeOptions>>;

describe('createGraph() refuses', () => {
  it.each([
    {
      text: 'triage >> reserch',
      agents: ['triage', 'research'],
      message:
        'There is no agent "reserch" for the flow: did you mean "research"?\n  triage >> reserch\n            ^',
      hint: 'Add "reserch" to "agents", or correct the name.',
    },
    { text: 'a >> zzz', agents: ['a', 'b'], message: 'There is no agent "zzz" for the flow: known are a, b' },
    { text: 'a', agents: [], message: 'There is no agent "a" for the flow: there is none' },
    { text: 'constructor', agents: ['a'], message: 'There is no agent "constructor"' },
    {
      text: 'a >> (b | a)',
      message:
        'The node "a" is in the flow twice, but a node runs only once: give the second one a name of its own in "agents": { a, a2: a }\n  a >> (b | a)\n            ^',
      hint: 'The same agent can do the work of several nodes, each under its own name.',
    },
    {
      text: 'a >> b',
      nodes: { bb: {} },
      message: 'There are options for "bb", but no such node in the flow: did you mean "b"?',
    },
    {
      text: 'a >> b',
      nodes: { c: {} },
      message: 'There are options for "c", but no such node in the flow',
    },
    {
      text: 'a >> b',
      nodes: { a: { timeout: 3 } as NodeOptions },
      message: 'The node "a" has no option "timeout": did you mean "timeoutMs"?',
    },
    {
      text: 'a',
      nodes: { a: 7 as NodeOptions },
      message: 'The options of the node "a" must be an object',
    },
    {
      text: 'a',
      nodes: { a: { timeoutMs: 0 } },
      message: '"timeoutMs" of the node "a" must be a number above 0, got 0',
    },
    {
      text: 'a',
      nodes: { a: { when: true as never } },
      message: '"when" of the node "a" must be a function such as ({ task, results }) => …, got boolean',
    },
    {
      text: 'a >> b',
      nodes: { a: { accepts: {} } },
      message: '"accepts" of the node "a" needs exactly one node before it, but there is none',
    },
    {
      text: '(a | b) >> c',
      nodes: { c: { accepts: {} } },
      message: '"accepts" of the node "c" needs exactly one node before it, but there are "a" and "b"',
      hint: 'Check what it takes in its "input" instead',
    },
    {
      text: 'a',
      nodes: { a: { onError: 'ignore' as never } },
      message: `"onError" of the node "a" must be 'fail', 'skip' or { fallback: 'name' }`,
    },
    {
      text: 'a',
      nodes: { a: { onError: { fallback: 'bb' } } },
      message: 'There is no agent "bb", the fallback of the node "a": did you mean "b"?',
      hint: 'Correct "onError" of "a".',
    },
    {
      text: 'a',
      nodes: { a: { onError: { fallback: 'a' } } },
      message: 'The node "a" is its own fallback: name another agent, or use "retry"',
    },
    {
      text: 'a >> b',
      nodes: { a: { onError: { fallback: 'b' } } },
      message: '"b" cannot be the fallback of the node "a": it is a node of the flow itself',
      hint: 'Give it a second name: { agents: { b2: b } }',
    },
    {
      text: 'a >> b',
      nodes: { a: { onError: { fallback: 'c' } }, b: { onError: { fallback: 'c' } } },
      message: '"c" cannot be the fallback of the node "b": it is the fallback of "a" already',
    },
    {
      text: 'a',
      nodes: { a: { onError: { fallback: 'b' } }, b: { onError: { fallback: 'a' } } },
      code: 'FLOW_CYCLE',
      message: 'The fallbacks go in a circle: a → b → a',
      hint: 'Let "b" end it',
    },
    {
      text: 'a',
      nodes: {
        a: { onError: { fallback: 'b' } },
        b: { onError: { fallback: 'c' } },
        c: { onError: { fallback: 'b' } },
      },
      code: 'FLOW_CYCLE',
      message: 'The fallbacks go in a circle: b → c → b',
    },
  ] satisfies readonly Refused[])('$message', ({ text, message, ...rest }: Refused) => {
    const { agents = ['a', 'b', 'c'], nodes, hint = '', code = 'FLOW_INVALID' } = rest;
    const error = refusalOf({ name: 'f', shape: readFlow(text), text, agents, nodes });
    expect(error.message).toContain(message);
    expect(error.failure.hint ?? '').toContain(hint);
    expect(error.failure).toMatchObject({ code, origin: 'flow' });
  });

  it.each([
    { shape: { type: 'sequence', of: [] }, message: 'The flow has an empty sequence' },
    { shape: { type: 'parallel' }, message: 'The flow has an empty parallel' },
    { shape: undefined, message: 'A flow is a text such as "a >> b"' },
    { shape: { type: 'node', name: '7' }, message: '"7" cannot be the name of a node' },
    { shape: endless(), message: 'nested more than 50 deep, or a part of it contains itself' },
    { shape: parallel(...names(1001)), message: 'The flow has more than 1000 nodes' },
  ])('a shape: $message', ({ shape, message }) => {
    expect(() => createGraph({ name: 'f', shape: shape as FlowShape, agents: ['a'] })).toThrow(message);
  });

  it.each([
    { edges: [], message: 'The flow is empty: a graph needs at least one pair' },
    { edges: 'a', message: 'The flow is empty: a graph needs at least one pair' },
    { edges: [['a', 'b'], ['a']], message: 'Edge 2 must be a pair of names' },
    { edges: [['a', 'b', 'c']], message: 'Edge 1 must be a pair of names' },
    { edges: ['ab'], message: 'Edge 1 must be a pair of names' },
    { edges: [['a', 7]], message: 'A value of type number cannot be the name of a node' },
    { edges: [['a', 'd']], message: 'There is no agent "d" for the flow' },
    {
      edges: Array.from({ length: 10_001 }, () => ['a', 'b']),
      message: 'The flow has 10001 edges; at most 10000 are read',
    },
    { edges: names(1001).map((name) => ['a', name]), message: 'The flow has more than 1000 nodes' },
    { edges: [['a', 'a']], code: 'FLOW_CYCLE', message: 'would never end: a → a' },
    {
      edges: [
        ['a', 'b'],
        ['b', 'a'],
      ],
      code: 'FLOW_CYCLE',
      message: 'The flow goes in a circle and would never end: a → b → a',
    },
    {
      edges: [
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'b'],
      ],
      code: 'FLOW_CYCLE',
      message: 'would never end: b → c → b',
    },
  ])('edges: $message', ({ edges, message, code = 'FLOW_INVALID' }) => {
    const error = refusalOf({ name: 'f', edges: edges as never, agents: ['a', 'b', 'c'] });
    expect(error.message).toContain(message);
    expect(error.failure).toMatchObject({ code, origin: 'flow' });
  });
});

describe('createGraph() says what comes before what', () => {
  it.each([
    { text: 'a', before: { a: [] }, last: ['a'] },
    { text: 'a >> b >> c', before: { a: [], b: ['a'], c: ['b'] }, last: ['c'] },
    { text: 'a | b', before: { a: [], b: [] }, last: ['a', 'b'] },
    { text: 'a >> (b | c) >> d', before: { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }, last: ['d'] },
    {
      text: '(a | b) >> (c | (d >> e))',
      before: { a: [], b: [], c: ['a', 'b'], d: ['a', 'b'], e: ['d'] },
      last: ['c', 'e'],
    },
    { text: '(a >> b) | (c >> d)', before: { a: [], b: ['a'], c: [], d: ['c'] }, last: ['b', 'd'] },
  ])('$text', ({ text, before, last }) => {
    const shape = readFlow(text);
    const graph = createGraph({ name: 'f', shape, text, agents: ['a', 'b', 'c', 'd', 'e'] });
    expect(beforeOf(graph)).toEqual(before);
    expect(graph.nodes.map(({ name }) => name)).toEqual(Object.keys(before));
    expect(graph).toMatchObject({ name: 'f', shape, last });
  });

  it('and puts fallbacks, which are no part of the order, after the others', () => {
    const graph = createGraph({
      name: 'f',
      shape: sequence('a', 'b'),
      agents: ['a', 'b', 'c', 'd'],
      nodes: { b: { onError: { fallback: 'c' } }, c: { onError: { fallback: 'd' } }, d: { onError: 'skip' } },
    });
    expect(graph.nodes).toEqual([
      { name: 'a', before: [] },
      { name: 'b', before: ['a'] },
      { name: 'c', before: ['a'], isFallbackOf: ['b'] },
      { name: 'd', before: ['a'], isFallbackOf: ['c'] },
    ]);
    expect(graph.last).toEqual(['b']);
  });

  it('and of edges, each pair counted once, in an order in which it can be done', () => {
    const edges: readonly FlowEdge[] = [
      ['b', 'c'],
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'c'],
    ];
    const graph = createGraph({ name: 'f', edges, agents: ['a', 'b', 'c'] });
    expect(graph.nodes).toEqual([
      { name: 'a', before: [] },
      { name: 'b', before: ['a'] },
      { name: 'c', before: ['b', 'a'] },
    ]);
    expect(graph).not.toHaveProperty('shape');
    expect(graph.last).toEqual(['c']);
  });

  it('of any graph without a circle, with each node after those before it', () => {
    fc.assert(
      fc.property(acyclicEdges, (edges) => {
        const graph = createGraph({ name: 'f', edges, agents: names(20) });
        const place = new Map(graph.nodes.map(({ name }, index) => [name, index]));
        const found = graph.nodes.flatMap(({ name, before }) => before.map((each) => [each, name]));
        expect(found.map(String).toSorted()).toEqual([...new Set(edges.map(String))].toSorted());
        for (const [from = '', to = ''] of found) expect(place.get(from)).toBeLessThan(place.get(to) ?? -1);
        expect(graph.last.toSorted()).toEqual(
          [...place.keys()].filter((name) => edges.every(([from]) => from !== name)).toSorted(),
        );
      }),
    );
  });

  it('and of a graph with a circle names one that is really there', () => {
    fc.assert(
      fc.property(acyclicEdges, fc.shuffledSubarray([...names(20)], { minLength: 1 }), (edges, circle) => {
        const closing = circle.map((name, index): FlowEdge => [
          name,
          circle[(index + 1) % circle.length] ?? '',
        ]);
        const all = [...edges, ...closing];
        const { failure } = refusalOf({ name: 'f', edges: all, agents: names(20) });
        const cycle = failure.context['cycle'] as readonly string[];
        expect(failure.code).toBe('FLOW_CYCLE');
        expect(cycle.length).toBeGreaterThan(1);
        expect(cycle[0]).toBe(cycle.at(-1));
        expect(new Set(cycle).size).toBe(cycle.length - 1);
        const pairs = new Set(all.map(String));
        for (const [index, name] of cycle.slice(1).entries())
          expect(pairs).toContain(`${cycle[index]},${name}`);
      }),
    );
  });

  it('of a thousand nodes in a row, whichever way they are written', () => {
    const edges = names(1000)
      .slice(1)
      .map((name, index): FlowEdge => [`n${index}`, name])
      .toReversed();
    const graph = createGraph({ name: 'f', edges, agents: names(1000) });
    expect(graph.nodes.map(({ name }) => name)).toEqual(names(1000));
  });

  it('of two rows of five hundred without a list for each node', () => {
    const all = names(1000);
    const shape = sequence(parallel(...all.slice(0, 500)), parallel(...all.slice(500)));
    const graph = createGraph({ name: 'f', shape, agents: all });
    expect(new Set(graph.nodes.map(({ before }) => before)).size).toBe(2);
  });
});

interface Refused {
  readonly text: string;
  readonly message: string;
  readonly agents?: readonly string[];
  readonly nodes?: Nodes;
  readonly hint?: string;
  readonly code?: string;
}

function refusalOf(definition: FlowDefinition): FlowError {
  try {
    createGraph(definition);
  } catch (error) {
    if (FlowError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('Expected a FlowError');
}

function beforeOf({ nodes }: FlowGraph): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(nodes.map(({ name, before }) => [name, before]));
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `n${index}`);
}

function endless(): FlowShape {
  const of: FlowShape[] = [];
  const shape: FlowShape = { type: 'sequence', of };
  of.push(shape);
  return shape;
}

/** Every edge leads upwards in some order of the names, so that there is no circle. */
const acyclicEdges: fc.Arbitrary<readonly FlowEdge[]> = fc
  .tuple(
    fc.shuffledSubarray([...names(20)], { minLength: 20 }),
    fc.array(fc.tuple(fc.nat(19), fc.nat(19)), { minLength: 1, maxLength: 60 }),
  )
  .map(([order, pairs]) =>
    pairs
      .filter(([one, other]) => one !== other)
      .map(([one, other]): FlowEdge => [
        order[Math.min(one, other)] ?? '',
        order[Math.max(one, other)] ?? '',
      ]),
  )
  .filter((edges) => edges.length > 0);
