import { describe, expect, it } from 'vitest';
import { combine, isEmpty, toProviderInput } from './observation.ts';

describe('combine()', () => {
  it.each(['body', 'message'] as const)('refuses a %s from both sides', (field) => {
    expect(() => combine({ [field]: 'a' }, { [field]: 'b' })).toThrow(`--${field}`);
  });

  it('lets a flag win over what was pasted, header by header', () => {
    const pasted = { status: 200, provider: 'openai', headers: { a: '1', b: '2' }, body: 'x' };
    expect(combine({ status: 429, headers: { b: '3' }, message: 'm' }, pasted)).toEqual({
      status: 429,
      provider: 'openai',
      headers: { a: '1', b: '3' },
      body: 'x',
      message: 'm',
    });
  });
});

describe('isEmpty()', () => {
  it.each([
    [{}, true],
    [{ provider: 'openai', model: 'x' }, true],
    [{ body: ' \n', message: '' }, true],
    [{ status: 429 }, false],
    [{ errno: 'EPIPE' }, false],
    [{ headers: { 'retry-after': '1' } }, false],
  ])('says of %o: %s', (observation, expected) => {
    expect(isEmpty(observation)).toBe(expected);
  });
});

describe('toProviderInput()', () => {
  it('puts the errno on the cause where there is one', () => {
    const { error } = toProviderInput({ message: 'fetch failed; cause: a; cause: b', errno: 'ENOTFOUND' }, 5);
    expect(error).toMatchObject({
      message: 'fetch failed',
      cause: { message: 'a; cause: b', code: 'ENOTFOUND' },
    });
    expect(error).not.toHaveProperty('code');
  });

  it('puts the errno on the error where there is no cause', () => {
    const { error } = toProviderInput({ message: 'socket hang up', errno: 'ECONNRESET' }, 5);
    expect(error).toMatchObject({ message: 'socket hang up', code: 'ECONNRESET' });
  });

  it('makes an error of an errno alone', () => {
    expect(toProviderInput({ errno: 'EPIPE' }, 5).error).toMatchObject({ message: 'EPIPE', code: 'EPIPE' });
  });

  it('makes no error where nothing was thrown', () => {
    expect(toProviderInput({ status: 429 }, 5)).toEqual({ status: 429, now: 5 });
  });
});
