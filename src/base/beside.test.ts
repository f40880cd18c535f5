import { describe, expect, it } from 'vitest';
import { beside } from './beside.ts';

describe('beside()', () => {
  it('makes a value once for each object, also where the value is nothing', () => {
    let made = 0;
    const numberOf = beside((_owner: object) => {
      made += 1;
      return made === 1 ? undefined : made;
    });
    const [one, other] = [{}, {}];
    expect([numberOf(one), numberOf(one), numberOf(other), numberOf(other)]).toEqual([
      undefined,
      undefined,
      2,
      2,
    ]);
  });

  it('shows nothing of it, and leaves it behind where the object is copied', () => {
    let made = 0;
    const numberOf = beside((_owner: object) => (made += 1));
    const owner = { name: 'Ada' };
    expect(numberOf(owner)).toBe(1);
    expect([Object.keys(owner), JSON.stringify(owner)]).toEqual([['name'], '{"name":"Ada"}']);
    expect(numberOf({ ...owner })).toBe(2);
  });

  it('keeps apart what two have beside the same object', () => {
    const owner = {};
    const [first, second] = [beside(() => 'first'), beside(() => 'second')];
    expect([first(owner), second(owner), first(owner)]).toEqual(['first', 'second', 'first']);
  });

  it('makes it anew for what is frozen', () => {
    let made = 0;
    const numberOf = beside((_owner: object) => (made += 1));
    const owner = Object.freeze({});
    expect([numberOf(owner), numberOf(owner)]).toEqual([1, 2]);
  });
});
