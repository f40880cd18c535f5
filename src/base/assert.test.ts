import { describe, expect, it } from 'vitest';
import { assert, unreachable } from './assert.ts';

describe('assert()', () => {
  it('throws a defect with the message when the condition does not hold', () => {
    expect(thrownBy(() => assert(false, 'Attempt must be positive, got -1'))).toMatchObject({
      name: 'Defect',
      message: 'Attempt must be positive, got -1',
    });
  });

  it('treats every falsy value as a broken condition', () => {
    for (const condition of [0, '', null, undefined, Number.NaN]) {
      expect(thrownBy(() => assert(condition, 'falsy'))).toBeInstanceOf(Error);
    }
  });

  it('narrows the type and returns nothing when the condition holds', () => {
    const text: string | undefined = ['a'][0];
    assert(text !== undefined, 'The list has one element');
    expect(text.length).toBe(1);
  });
});

describe('unreachable()', () => {
  it('throws a defect that names the value it was reached with', () => {
    const event = { type: 'new-member' } as never;
    expect(thrownBy(() => unreachable(event))).toMatchObject({
      name: 'Defect',
      message: 'This place must not be reached, but it was with {"type":"new-member"}',
    });
  });

  it('names values that have no JSON', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(thrownBy(() => unreachable(undefined as never)).message).toContain('with undefined');
    expect(thrownBy(() => unreachable(cycle as never)).message).toContain('with a value of type object');
  });

  it('cuts a long value short', () => {
    expect(thrownBy(() => unreachable('x'.repeat(10_000) as never)).message.length).toBeLessThan(300);
  });
});

function thrownBy(action: () => void): Error {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('Expected the action to throw an Error');
}
