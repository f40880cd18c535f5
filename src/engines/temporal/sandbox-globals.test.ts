import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as own from './sandbox-globals.ts';

describe('what stands in for globals inside a workflow', () => {
  it('refuses what cannot be done', () => {
    expect(() => own.structuredClone(() => undefined)).toThrow(TypeError);
    expect(() => own.btoa('€')).toThrow(RangeError);
    for (const wrong of ['a', 'ab$=', 'a=bc']) {
      expect(() => own.atob(wrong)).toThrow(RangeError);
      expect(() => atob(wrong)).toThrow(/character|encoded/);
    }
  });

  it('copies JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(own.structuredClone(value))).toBe(JSON.stringify(value));
      }),
      { seed: 7 },
    );
    const given = { list: [1] };
    expect(own.structuredClone(given)).not.toBe(given);
    expect(own.structuredClone(undefined)).toBeUndefined();
  });

  it('writes and reads base64 as Node does', () => {
    const bytes = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    });
    fc.assert(
      fc.property(bytes, (text) => {
        expect(own.btoa(text)).toBe(btoa(text));
        expect(own.atob(btoa(text))).toBe(text);
        expect(own.atob(btoa(text).replaceAll('=', ''))).toBe(text);
      }),
      { seed: 7 },
    );
  });
});
