import { describe, expect, it } from 'vitest';
import { maxJsonDepth, nestsTooDeeply } from './json-depth.ts';

const nested = (depth: number, inside = ''): string => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;

describe('nestsTooDeeply()', () => {
  it.each([
    ['one level too many', nested(maxJsonDepth + 1)],
    ['objects', `${'{"a":'.repeat(maxJsonDepth + 1)}1${'}'.repeat(maxJsonDepth + 1)}`],
    ['what is never closed', '['.repeat(maxJsonDepth + 1)],
    ['what stands behind a text with quotes', `["\\"[\\\\", ${nested(maxJsonDepth)}]`],
  ])('says so of %s', (_name, text) => {
    expect(nestsTooDeeply(text)).toBe(true);
  });

  it.each([
    ['the last level', nested(maxJsonDepth)],
    ['brackets inside a text', `["${'['.repeat(5000)}\\"${'{'.repeat(5000)}"]`],
    ['a text that never ends', `"${'['.repeat(5000)}`],
    ['a text that ends with a backslash', `"${'['.repeat(5000)}\\`],
    ['many neighbours', `[${'[],'.repeat(5000)}{}]`],
    ['nothing', ''],
  ])('lets pass %s', (_name, text) => {
    expect(nestsTooDeeply(text)).toBe(false);
  });
});
