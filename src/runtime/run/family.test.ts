import { describe, expect, it } from 'vitest';
import { emptyLedger } from '../../resilience/ledger.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import { countRun, createFamily, familyLimit } from './family.ts';

function used(requests: number): Ledger {
  return { ...emptyLedger, requests, inputTokens: requests * 10 };
}

describe('a family', () => {
  it('has reached its bound when all of its runs have together, each counted by its latest word', () => {
    const family = createFamily({ maxRequests: 5 });
    countRun(family, 'r', used(0));
    countRun(family, 'r/a', used(3));
    countRun(family, 'r/b', used(1));
    expect(familyLimit(family)).toBeUndefined();
    countRun(family, 'r/a', used(3));
    expect(familyLimit(family)).toBeUndefined();
    countRun(family, 'r/b', used(2));
    expect(familyLimit(family)).toBe('maxRequests');
    expect(family.total).toEqual(used(5));
  });

  it('leaves a run that is alone to its own bounds', () => {
    const family = createFamily({ maxRequests: 1 });
    countRun(family, 'r', used(7));
    expect(familyLimit(family)).toBeUndefined();
  });
});
