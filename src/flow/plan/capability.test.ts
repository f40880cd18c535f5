import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../base/json.ts';
import { capability } from './capability.ts';
import type { Capability, CapabilityContext } from './plan-types.ts';

const base = { name: 'forecast', description: 'The weather.', execute: () => ({}) };

describe('capability()', () => {
  it.each([
    { change: { name: '' }, message: '"name" must be 1 to 64 letters, digits, "_" or "-", got the text ""' },
    { change: { name: 'the weather' }, message: 'got the text "the weather"' },
    {
      change: { description: ' ' },
      message: 'capability "forecast": "description" must be a text that says',
    },
    { change: { execute: undefined }, message: '"execute" must be a function (values, context) =>' },
    { change: { requires: ['city'] }, message: '"requires" must be schemas by name' },
    {
      change: { requires: { '1st': z.string() } },
      message: 'the name of a value in "requires" must be a letter',
    },
    { change: { provides: { __proto__: null, 'a b': z.string() } }, message: 'got "a b"' },
    {
      change: { provides: { days: 'a list' } },
      message: 'Cannot use the value "days" of capability "forecast": it must be a schema of a library',
    },
    { change: { effect: 'twice' }, message: "\"effect\" must be one of 'read', 'idempotent', 'once'" },
    { change: { permission: 'yes' }, message: "\"permission\" must be one of 'allow', 'ask', 'deny'" },
    { change: { timeoutMs: 0 }, message: '"timeoutMs" must be a number of milliseconds above 0' },
    { change: { retryPolicy: 'often', effect: 'read' }, message: 'must be one of none, quick' },
    { change: { retryPolicy: { maxAttempts: 0 }, effect: 'read' }, message: '"maxAttempts" must be' },
    { change: { retryPolicy: 'quick' }, message: "means nothing where the effect is 'once' (the default)" },
    { change: { classifyError: 'critical' }, message: '"classifyError" must be a function' },
    { change: { verify: true }, message: '"verify" must be a function' },
    { change: { provide: {} }, message: 'there is no field "provide": did you mean "provides"?' },
    { change: { retries: 3 }, message: 'there is no field "retries": call it "retryPolicy"' },
    { change: { zzz: 3 }, message: 'there is no field "zzz": known are name, description' },
  ])('refuses $change', ({ change, message }) => {
    const options = { ...base, ...change } as unknown as typeof base;
    expect(() => capability(options)).toThrow(
      expect.objectContaining({ name: 'ConfigError', message: expect.stringContaining(message) as string }),
    );
  });

  it('refuses what is no definition at all', () => {
    expect(() => capability(undefined as never)).toThrow('expected { name, description, requires');
  });

  it('keeps what it was given, frozen, with the names of its values', () => {
    const made = capability({
      ...base,
      requires: { city: z.string() },
      provides: { days: { type: 'array' } },
      execute: () => ({ days: [] }),
    });
    expect(made).toMatchObject({ name: 'forecast', requires: ['city'], provides: ['days'] });
    expect([made, made.requires, made.provides, made.options].every(Object.isFrozen)).toBe(true);
  });

  it('takes a schema that no model could be told of, for none is', () => {
    expect(capability({ ...base, requires: { city: v.string() } }).requires).toEqual(['city']);
  });

  it('takes a retry policy that repeats nothing for any effect', () => {
    expect(capability({ ...base, retryPolicy: 'none' }).name).toBe('forecast');
  });

  it('knows the types of its values by their schemas', () => {
    const made = capability({
      ...base,
      requires: { city: z.string(), days: v.number(), options: { type: 'object' } },
      provides: { mean: z.number() },
      execute: (values, context) => {
        expectTypeOf(values).toEqualTypeOf<{
          readonly city: string;
          readonly days: number;
          readonly options: Json;
        }>();
        expectTypeOf(context).toEqualTypeOf<CapabilityContext>();
        return { mean: 1 };
      },
      verify: ({ days }) => ({ happened: true, result: { mean: days } }),
    });
    expectTypeOf(made).toEqualTypeOf<Capability>();
    // @ts-expect-error A number is promised.
    capability({ ...base, provides: { mean: z.number() }, execute: () => ({ mean: 'warm' }) });
    // @ts-expect-error Something is promised.
    capability({ ...base, provides: { mean: z.number() }, execute: () => undefined });
    capability({ ...base, execute: () => undefined });
    expect(made.requires).toHaveLength(3);
  });
});
