import { describe, expect, it } from 'vitest';
import { createFailure } from '../../errors/failure.ts';
import type { EffectEnd } from '../../runtime/record/durable.ts';
import { callText, isCall, readRecord } from './record.ts';

const called = { effect: 'tool', inputText: '{"turn":1}' };
const failure = createFailure('TIMEOUT', { origin: 'tool', message: 'late' });

describe('the record of a call', () => {
  it.each<{ what: string; end: EffectEnd; text?: string }>([
    { what: 'a value', end: { type: 'done', value: [1, 'a'] }, text: '["tool",{"turn":1},[1,"a"]]' },
    { what: 'nothing', end: { type: 'done', value: null }, text: '["tool",{"turn":1},null]' },
    { what: 'what it took', end: { type: 'done', value: 1, took: ['s1'] } },
    { what: 'a failure', end: { type: 'failed', failure } },
  ])('with $what is read as it was written', ({ end, text }) => {
    const written = callText(called, end);
    expect(text ?? written).toBe(written);
    const record = readRecord(JSON.parse(written));
    expect(record).toEqual({ of: 'call', effect: 'tool', input: { turn: 1 }, ...end });
    expect(isCall(record)).toBe(true);
  });

  it('is read in the long form in which all of them were written once', () => {
    const old = { of: 'call', effect: 'tool', input: 3, type: 'done', value: 4 };
    expect(readRecord(old)).toEqual(old);
  });

  it('of an effect that gave no value says nothing of one', () => {
    const end = { type: 'done', value: undefined } as unknown as EffectEnd;
    expect(readRecord(JSON.parse(callText(called, end)))).toEqual({
      of: 'call',
      effect: 'tool',
      input: { turn: 1 },
      type: 'done',
    });
  });
});
