import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerText } from './answer-text.ts';

describe('createAnswerText()', () => {
  it('takes back what has not gone out without a word', () => {
    const answer = createAnswerText();
    expect(answer.add('one\ntwo')).toEqual(['one']);
    expect(answer.retract(5)).toBeUndefined();
    expect(answer.tail()).toBe('t');
  });

  it('says what had gone out, from the beginning of its line, and gives that line again', () => {
    const answer = createAnswerText();
    answer.add('one\ntwo three\nfour');
    expect(answer.retract(7)).toBe('two three\n');
    expect(answer.given()).toBe('one\n');
    expect(answer.add('\nfive')).toEqual(['two']);
  });

  it('takes everything back', () => {
    const answer = createAnswerText();
    answer.add('one\ntwo\n');
    expect(answer.retract(0)).toBe('one\ntwo\n');
    expect([answer.given(), answer.tail()]).toEqual(['', '']);
  });

  it('does not hold a line that never ends', () => {
    const answer = createAnswerText();
    const lines = answer.add('👍'.repeat(10_000));
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.join('') + answer.tail()).toBe('👍'.repeat(10_000));
    expect(lines.join('|')).not.toMatch(/\p{Cs}/u);
  });

  it('gives what stands, in whatever pieces it came and whatever was taken back', () => {
    const step = fc.oneof(
      fc.string().map((text) => ({ text })),
      fc.nat(40).map((keep) => ({ keep })),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const answer = createAnswerText();
        let text = '';
        for (const next of steps) {
          if ('text' in next) {
            answer.add(next.text);
            text += next.text;
          } else {
            answer.retract(next.keep);
            text = text.slice(0, next.keep);
          }
          expect(answer.given() + answer.tail()).toBe(text);
        }
      }),
    );
  });
});
