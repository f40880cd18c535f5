import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCallIds } from './made-call-ids.ts';

describe('createCallIds()', () => {
  it('never gives one id to two calls', () => {
    const id = fc.oneof(fc.constantFrom(undefined, '', 'a', 'call_0', 'call_1', 'call_2', 7), fc.string());
    fc.assert(
      fc.property(fc.array(id), (wireIds) => {
        const makeId = createCallIds();
        const ids = wireIds.map((wireId) => makeId(wireId));
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it('keeps the ids of the provider and names the others by their position', () => {
    const makeId = createCallIds();
    expect([undefined, 'x', '', 'x'].map((wireId) => makeId(wireId))).toEqual([
      'call_0',
      'x',
      'call_2',
      'call_3',
    ]);
  });
});
