import { describe, expect, expectTypeOf, it } from 'vitest';
import { graph, node, parallel, sequence } from './build-flow.ts';
import type { FlowFor, NamedEdges, NamedShape } from './build-flow.ts';
import type { FlowShape } from './flow-types.ts';
import { readFlow } from './read-flow.ts';

describe('the builder refuses', () => {
  it.each([
    { make: () => sequence(), message: 'sequence() is empty: name at least one node' },
    { make: () => parallel(), message: 'parallel() is empty: name at least one node' },
    { make: () => node(''), message: '"" cannot be the name of a node: a name begins with a letter' },
    { make: () => sequence('a b'), message: '"a b" cannot be the name of a node' },
    { make: () => node('a'.repeat(65)), message: 'cannot be the name of a node' },
    { make: () => node('__proto__'), message: '"__proto__" cannot be the name of a node' },
    { make: () => node('a\u001B[2J'), message: '"a<U+001B>[2J" cannot be the name of a node' },
    { make: () => node(undefined as never), message: 'A value of type undefined cannot be the name' },
    { make: () => sequence(7 as never), message: 'sequence() takes names and what node(), sequence()' },
    { make: () => parallel(['a', 'b'] as never), message: 'got a list: write its items one by one' },
    { make: () => parallel({ type: 'sequence' } as never), message: 'got object' },
    { make: () => sequence({ run: () => 1 } as never), message: 'got object' },
  ])('$message', ({ make, message }) => {
    expect(make).toThrow(message);
  });

  it('an agent in the place of its name, and says so', () => {
    expect(() => sequence({ run: () => 1 } as never)).toThrow(
      expect.objectContaining({
        failure: expect.objectContaining({
          code: 'FLOW_INVALID',
          hint: 'Give the name of the agent in "agents", not the agent.',
        }) as unknown,
      }),
    );
  });
});

describe('the builder', () => {
  it.each([
    { built: node('a'), text: 'a' },
    { built: sequence('a'), text: 'a' },
    { built: sequence('a', sequence('b', node('c'))), text: 'a >> b >> c' },
    { built: parallel(parallel('a', 'b'), 'c'), text: 'a | b | c' },
    { built: sequence('a', parallel('b', 'c'), 'd'), text: 'a >> (b | c) >> d' },
  ])('says what "$text" says', ({ built, text }) => {
    expect(withoutPlaces(readFlow(text))).toEqual(built);
  });

  it('makes a graph of pairs', () => {
    const edges = [
      ['a', 'b'],
      ['b', 'c'],
    ] as const;
    expect(graph(edges)).toEqual({ type: 'graph', edges });
  });
});

describe('the types of the builder', () => {
  const agents = { a: 1, b: 2, c: 3 };

  /** As `flow()` takes it. */
  function take<Agents extends object>(
    shape: string | FlowFor<NoInfer<Agents>>,
    options: { readonly agents: Agents },
  ): unknown {
    return [shape, options];
  }

  it('know the names', () => {
    expectTypeOf(sequence('a', parallel('b', node('c')))).toEqualTypeOf<NamedShape<'a' | 'b' | 'c'>>();
    expectTypeOf(graph([['a', 'b']])).toEqualTypeOf<NamedEdges<'a' | 'b'>>();
  });

  it('take a flow of known names, and refuse one with an unknown name', () => {
    expect([
      take('a >> b', { agents }),
      take(sequence('a', parallel('b', 'c')), { agents }),
      take(graph([['a', 'b']]), { agents }),
      take(readFlow('a >> b'), { agents }),
      // @ts-expect-error "d" is not among the agents.
      take(sequence('a', 'd'), { agents }),
      // @ts-expect-error "d" is not among the agents, however deep.
      take(sequence('a', parallel('b', sequence('c', node('d')))), { agents }),
      // @ts-expect-error "d" is not among the agents.
      take(graph([['a', 'd']]), { agents }),
    ]).toHaveLength(7);
  });
});

function withoutPlaces(shape: FlowShape): FlowShape {
  if (shape.type === 'node') return { type: 'node', name: shape.name };
  return { type: shape.type, of: shape.of.map(withoutPlaces) };
}
