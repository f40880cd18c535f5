import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlowError } from '../errors/rerail-error.ts';
import { parallel, sequence } from './build-flow.ts';
import type { FlowShape } from './flow-types.ts';
import { readFlow } from './read-flow.ts';

describe('readFlow() refuses', () => {
  it.each([
    { text: '', message: 'The flow is empty: name at least one node', hint: 'research >> writer' },
    { text: ' \n\t ', message: 'The flow is empty: name at least one node', hint: 'research >> writer' },
    {
      text: 'a >> ',
      message: [
        'at line 1, column 6: expected a name or "(", but the flow ends here',
        '  a >> ',
        '       ^',
      ].join('\n'),
    },
    {
      text: 'a >> >> b',
      message: ['column 6: expected a name or "(", but found ">>"', '  a >> >> b', '       ^'].join('\n'),
    },
    {
      text: 'a >>\n  b c\n>> d',
      message: ['line 2, column 5: expected ">>", "|" or the end, but found "c"', '    b c', '      ^'].join(
        '\n',
      ),
      hint: 'Put ">>" (one after the other) or "|" (side by side) between "b" and "c".',
    },
    { text: 'a (b)', message: 'found "("', hint: 'between "a" and "("' },
    { text: 'a > b', message: 'found ">"', hint: 'One after the other is written ">>"' },
    { text: 'a -> b', message: 'found "->"', hint: 'One after the other is written ">>"' },
    { text: 'a → b', message: 'found "→"', hint: 'One after the other is written ">>"' },
    { text: 'a, b', message: 'found ","', hint: 'Side by side is written "|"' },
    { text: 'a && b', message: 'found "&&"', hint: 'Side by side is written "|"' },
    { text: 'a || b', message: 'column 4: expected a name or "(", but found "|"' },
    { text: '"a"', message: 'found """', hint: 'without quotation marks' },
    { text: '7up', message: 'found "7"', hint: 'A name begins with one of the letters' },
    { text: 'a >> é', message: 'found "é"', hint: 'A name begins with one of the letters' },
    { text: 'a\u202Eb', message: 'found "<U+202E>"' },
    { text: 'a )', message: 'found ")"', hint: 'It closes nothing' },
    { text: '()', message: 'expected a name or "(", but found ")"' },
    {
      text: '(a >> (b | c)',
      message:
        'expected ">>", "|" or the ")" that closes the "(" at line 1, column 1, but the flow ends here',
    },
    {
      text: 'a >> b | c >> d',
      message: [
        'column 8: "|" after ">>" is ambiguous without parentheses',
        '  a >> b | c >> d',
        '         ^',
      ].join('\n'),
      hint: 'Write "… >> (b | …)", or "(a >> b) | …".',
    },
    {
      text: 'a | (b >> c) >> d',
      message: '">>" after "|" is ambiguous',
      hint: 'Write "… | ((b >> c) >> …)", or "(a | (b >> c)) >> …".',
    },
    { text: `a >> ${'b'.repeat(65)}`, message: 'this name is 65 characters long' },
    { text: `${'('.repeat(51)}a${')'.repeat(51)}`, message: 'parentheses are nested more than 50 deep' },
    { text: names(1001).join('|'), message: 'there are more than 1000 nodes' },
    { text: 'a'.repeat(10_001), message: 'The flow has 10001 characters; at most 10000 are read' },
    { text: undefined as unknown as string, message: 'A flow must be a text here, got undefined' },
  ])('$text', ({ text, message, hint = '' }) => {
    const error = refusalOf(text);
    expect(error.message).toContain(message);
    expect(error.failure.hint ?? '').toContain(hint);
    expect(error.failure).toMatchObject({ code: 'FLOW_INVALID', origin: 'flow' });
  });

  it('and shows of a long line only what is around the place', () => {
    const { message } = refusalOf(`${names(300).join(' >> ')} ! ${names(300).join(' >> ')}`);
    const [, line = '', mark = ''] = message.split('\n');
    expect(line).toMatch(/^ {2}….* ! .*…$/);
    expect(line[mark.indexOf('^')]).toBe('!');
  });
});

describe('readFlow() reads', () => {
  it.each([
    { text: 'a', shape: sequence('a') },
    { text: ' ( ( a ) ) ', shape: sequence('a') },
    { text: 'a>>b', shape: sequence('a', 'b') },
    { text: 'a\n>> b\n>> c', shape: sequence('a', 'b', 'c') },
    { text: '(a >> b) >> c', shape: sequence('a', 'b', 'c') },
    { text: 'a|b|(c|d)', shape: parallel('a', 'b', 'c', 'd') },
    {
      text: 'triage >> (research | pricing) >> writer',
      shape: sequence('triage', parallel('research', 'pricing'), 'writer'),
    },
    { text: '(a >> b) | (c >> d)', shape: parallel(sequence('a', 'b'), sequence('c', 'd')) },
    {
      text: 'a >> ((b >> c) | d-1) >> e_2',
      shape: sequence('a', parallel(sequence('b', 'c'), 'd-1'), 'e_2'),
    },
    { text: `${'('.repeat(50)}a${')'.repeat(50)}`, shape: sequence('a') },
    { text: names(1000).join('|'), shape: parallel(...names(1000)) },
  ])('$text', ({ text, shape }) => {
    expect(withoutPlaces(readFlow(text))).toEqual(shape);
  });

  it('and keeps where each name stands', () => {
    expect(readFlow('a >>\n b')).toEqual({
      type: 'sequence',
      of: [
        { type: 'node', name: 'a', at: 0 },
        { type: 'node', name: 'b', at: 6 },
      ],
    });
  });

  it('whatever a shape is printed as, as that shape', () => {
    fc.assert(
      fc.property(shapes, blanks, (shape, blank) => {
        expect(withoutPlaces(readFlow(print(shape, blank)))).toEqual(shape);
      }),
      { numRuns: 300 },
    );
  });

  it('any text, or throws a FlowError that is bounded', () => {
    const pieces = fc.constantFrom(
      'a',
      'b-c',
      '>>',
      '|',
      '(',
      ')',
      ' ',
      '\n',
      '>',
      '-',
      '"',
      'é',
      '\u{1F600}',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(pieces, { maxLength: 60 }).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const error = attempt(text);
        expect(error === undefined || FlowError.isInstance(error)).toBe(true);
        expect(String(error).length).toBeLessThan(1100);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    { what: 'blanks', text: `a${' '.repeat(9999)}` },
    { what: 'dashes', text: `a ${'-'.repeat(9998)}` },
    { what: 'ampersands', text: `a ${'&'.repeat(9998)}` },
    { what: 'parentheses', text: '('.repeat(10_000) },
    { what: 'line breaks', text: `a${'\n'.repeat(9998)}!` },
    { what: 'a mix', text: `${'a>>'.repeat(900)}b|c` },
  ])('ten thousand characters of $what a hundred times without noticeable work', ({ text }) => {
    const startedMs = performance.now();
    for (let round = 0; round < 100; round += 1) attempt(text);
    // Linear work takes some milliseconds, quadratic work minutes.
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});

function refusalOf(text: string): FlowError {
  const error = attempt(text);
  if (!FlowError.isInstance(error)) throw new Error(`Expected a FlowError, got ${String(error)}`);
  return error;
}

function attempt(text: string): unknown {
  try {
    readFlow(text);
    return undefined;
  } catch (error) {
    return error;
  }
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `n${index}`);
}

function withoutPlaces(shape: FlowShape): FlowShape {
  if (shape.type === 'node') return { type: 'node', name: shape.name };
  return { type: shape.type, of: shape.of.map(withoutPlaces) };
}

const blanks = fc.constantFrom('', ' ', '\n', ' \t ');

/** A group within a group always stands in parentheses. */
function print(shape: FlowShape, blank: string): string {
  if (shape.type === 'node') return `${blank}${shape.name}${blank}`;
  const sign = shape.type === 'sequence' ? '>>' : '|';
  return shape.of
    .map((part) => (part.type === 'node' ? print(part, blank) : `(${print(part, blank)})${blank}`))
    .join(sign);
}

/** Made by the builder, so that each shape is written in one way only. */
const shapes: fc.Arbitrary<FlowShape> = fc.letrec<{ shape: FlowShape; group: FlowShape; node: FlowShape }>(
  (tie) => ({
    node: fc.stringMatching(/^[A-Za-z][\w-]{0,8}$/).map((name): FlowShape => ({ type: 'node', name })),
    group: fc
      .tuple(fc.boolean(), fc.array(tie('shape'), { minLength: 1, maxLength: 4 }))
      .map(([isSequence, parts]) => (isSequence ? sequence(...parts) : parallel(...parts))),
    shape: fc.oneof({ maxDepth: 5, withCrossShrink: true }, tie('node'), tie('group')),
  }),
).shape;
