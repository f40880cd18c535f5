import { describe, expect, it } from 'vitest';
import { createGrowingText } from './growing-text.ts';

describe('createGrowingText()', () => {
  it('holds what was added, over many chunks, with what was cut off gone', () => {
    const text = createGrowingText();
    const pieces = Array.from({ length: 5000 }, (_, index) => `${index},`);
    for (const piece of pieces) text.add(piece);
    expect(text.read()).toBe(pieces.join(''));
    text.cut(10_000);
    text.add('end');
    expect(text.read()).toBe(`${pieces.join('').slice(0, 10_000)}end`);
    text.cut(0);
    expect(text.read()).toBe('');
  });
});
