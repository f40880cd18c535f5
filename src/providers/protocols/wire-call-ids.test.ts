import { describe, expect, it } from 'vitest';
import { callIdForms, createWireCallIds } from './wire-call-ids.ts';

const odd = ['', 'same', 'same', 'functions.search:0', 'x'.repeat(10_000), 'é\u0000\n', 'x'.repeat(10_000)];

describe('createWireCallIds()', () => {
  it.each(Object.entries(callIdForms))('gives %s ids that it takes, none twice', (_name, form) => {
    const ids = createWireCallIds(form);
    const made = odd.map((callId) => {
      const id = ids.forCall(callId);
      expect(ids.forResult(callId), 'the result names its call').toBe(id);
      return id;
    });
    for (const id of made) expect(id).toMatch(form.legal);
    expect(new Set(made).size).toBe(odd.length);
  });

  it('makes the same ids of the same history, so that a cached prefix stays the same', () => {
    const make = (): readonly string[] => {
      const ids = createWireCallIds(callIdForms.mistral);
      return odd.map((callId) => ids.forCall(callId));
    };
    expect(make()).toEqual(make());
  });

  it('lets pass what the provider takes', () => {
    const ids = createWireCallIds(callIdForms.anthropic);
    expect(ids.forCall('toolu_01A')).toBe('toolu_01A');
    expect(ids.forResult('never-called')).toBe('never-called');
  });
});
