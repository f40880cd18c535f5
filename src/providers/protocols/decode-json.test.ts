import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEventData } from './decode-json.ts';

describe('parseEventData()', () => {
  it.each([
    ['', 'The event is not JSON'],
    ['{"a":', 'The event is not JSON'],
    ['<html>', 'The event is not JSON'],
    ['null', 'got null'],
    ['[1]', 'got a list'],
    ['"text"', 'got a string'],
    ['7', 'got a number'],
  ])('reports %j as malformed and keeps the data', (data, reason) => {
    expect(parseEventData(data)).toEqual({
      type: 'problem',
      problem: { type: 'malformed', reason: expect.stringContaining(reason) as string, data },
    });
  });

  it('gives an object as it is', () => {
    expect(parseEventData('{"a":[1]}')).toEqual({ type: 'object', value: { a: [1] } });
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), (data) => {
        expect(parseEventData(data)).toHaveProperty('type');
      }),
    );
  });
});
