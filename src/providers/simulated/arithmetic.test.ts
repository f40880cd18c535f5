import { describe, expect, it } from 'vitest';
import { evaluate, findExpression } from './arithmetic.ts';

describe('evaluate', () => {
  it.each(['', '1 +', '(1', '1)', '1 / 0', 'x', '1 2', `${'('.repeat(50)}1${')'.repeat(50)}`, '2 ** 3'])(
    'has no answer to %j',
    (expression) => expect(evaluate(expression)).toBeUndefined(),
  );

  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['-4 - -6', 2],
    ['10 / 4', 2.5],
    ['0.1 + 0.2', 0.3],
  ])('makes %s be %d', (expression, value) => expect(evaluate(expression)).toBe(value));
});

describe('findExpression', () => {
  it.each(['On 2026-01-05 at noon', 'version 1.2.3', 'call 17', 'a + b'])('finds none in %j', (text) =>
    expect(findExpression(text)).toBeUndefined(),
  );

  it.each([
    ['What is 12 * (7 + 3)?', '12 * (7 + 3)'],
    ['seven is not 3 plus 4, or 3 times 4', '3 + 4'],
  ])('finds the sum in %j', (text, expression) => expect(findExpression(text)).toBe(expression));
});
