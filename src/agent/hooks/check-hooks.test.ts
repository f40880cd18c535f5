import { describe, expect, it } from 'vitest';
import { RerailError } from '../../errors/rerail-error.ts';
import { checkHooks } from './check-hooks.ts';
import { hookRules } from './hook-rules.ts';

const good = { name: 'watch', kind: 'observer', on: {} };
const nothing = (): void => undefined;

describe('checkHooks() refuses', () => {
  it.each([
    { hooks: undefined, says: '"hooks" must be a list of hooks, got nothing' },
    { hooks: [null], says: 'hooks[0] must be a hook, got null' },
    { hooks: [good, { ...good, name: ' ' }], says: 'hooks[1].name must be a text of 1 to 100 characters' },
    { hooks: [{ ...good, kind: 'gardrail' }], says: 'did you mean "guardrail"?' },
    {
      hooks: [{ ...good, kind: undefined }],
      says: 'must be one of observer, transformer, guardrail, got nothing',
    },
    { hooks: [{ ...good, on: { 'before-tools': nothing } }], says: 'did you mean "before-tool"?' },
    { hooks: [{ ...good, on: { beforeModel: nothing } }], says: 'must be one of run-start' },
    {
      hooks: [{ ...good, on: { 'run-start': 'x' } }],
      says: `"on['run-start']" of hook "watch" must be a function`,
    },
    {
      hooks: [{ name: 'watch', kind: 'observer' }],
      says: '"on" of hook "watch" must be an object of functions',
    },
    { hooks: [{ ...good, timeoutMs: 0 }], says: 'must be above 0 and at most 600000, got 0' },
    { hooks: [{ ...good, timeoutMs: Infinity }], says: 'got Infinity' },
    { hooks: [{ ...good, timeoutMS: 5 }], says: 'did you mean "timeoutMs"?' },
    { hooks: [{ ...good, onEvents: nothing }], says: 'did you mean "onEvent"?' },
    { hooks: [{ ...good, 'run-start': nothing }], says: 'did you mean "on: { \'run-start\': … }"?' },
    { hooks: [{ ...good, onEvent: 5 }], says: '"onEvent" of hook "watch" must be a function, got 5' },
    { hooks: [{ ...good, kind: 'guardrail', onEvent: nothing }], says: 'only an observer receives events' },
    { hooks: Array.from({ length: 101 }, () => good), says: 'at most 100 hooks, got 101' },
  ])('$hooks: $says', ({ hooks, says }) => {
    expect(() => checkHooks(hooks)).toThrow(RerailError);
    expect(() => checkHooks(hooks)).toThrow(says);
  });

  const refused = Object.entries(hookRules).flatMap(([point, kinds]) =>
    Object.entries(kinds).flatMap(([kind, actions]) => (actions === null ? [{ point, kind }] : [])),
  );
  it.each(refused)('a $kind at $point, and says to observe there', ({ point, kind }) => {
    const hooks = [{ name: 'x', kind, on: { [point]: nothing } }];
    expect(() => checkHooks(hooks)).toThrow(`is a ${kind} and cannot be at "${point}"`);
    expect(() => checkHooks(hooks)).toThrow('make a hook of kind "observer"');
  });

  it('seven pairs of kind and point in all', () => {
    expect(refused).toHaveLength(7);
  });
});

describe('checkHooks() lets through', () => {
  it('hooks of every kind at every point of theirs, and fields of their own', () => {
    const hooks = Object.entries(hookRules).flatMap(([point, kinds]) =>
      Object.entries({ ...kinds, observer: [] })
        .filter(([, actions]) => actions !== null)
        .map(([kind]) => ({
          name: 'x',
          kind,
          on: { [point]: nothing, 'run-end': undefined },
          report: nothing,
        })),
    );
    expect(checkHooks(hooks)).toBe(hooks);
  });
});
