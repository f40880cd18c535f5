import { describe, expect, it } from 'vitest';
import { RerailError } from '../../errors/rerail-error.ts';
import { errnoOf, fromSystem, showPath, workspaceError } from './workspace-error.ts';

describe('fromSystem()', () => {
  it.each([
    { errno: 'ENOENT', code: 'NOT_FOUND', says: 'there is nothing by that name', retryable: false },
    {
      errno: 'EACCES',
      code: 'PERMISSION_DENIED',
      says: 'this process may not open it (EACCES)',
      retryable: false,
    },
    { errno: 'ELOOP', code: 'PATH_OUTSIDE_WORKSPACE', says: 'leads in a circle', retryable: false },
    { errno: 'ENOSPC', code: 'IO_ERROR', says: 'the disk is full (ENOSPC)', retryable: false },
    { errno: 'EMFILE', code: 'IO_ERROR', says: 'too many files open (EMFILE)', retryable: true },
    { errno: 'EIO', code: 'IO_ERROR', says: 'the system answered EIO', retryable: false },
  ])('says what $errno means', ({ errno, code, says, retryable }) => {
    const error = fromSystem(Object.assign(new Error('raw'), { code: errno }), 'src/a.ts');
    expect(error).toMatchObject({ code, retryable, failure: { origin: 'tool', sideEffect: 'none' } });
    expect(error.message).toContain(`Cannot use src/a.ts: `);
    expect(error.message).toContain(says);
  });

  it('leaves a defect and a failure as they are', () => {
    const defect = new TypeError('undefined is not a function');
    const failure = workspaceError('NOT_FOUND', 'no file a');
    expect(fromSystem(defect, 'a')).toBe(defect);
    expect(fromSystem(failure, 'a')).toBe(failure);
  });

  it('makes a failure of something that is no error at all', () => {
    expect(RerailError.isInstance(fromSystem('strange', 'a'))).toBe(true);
  });
});

describe('errnoOf()', () => {
  it.each([
    undefined,
    null,
    'ENOENT',
    {},
    { code: 5 },
    { code: 'ERR_INVALID_ARG_TYPE' },
    { code: 'constructor' },
  ])('knows none of %j', (value) => {
    expect(errnoOf(value)).toBeUndefined();
  });
});

describe('showPath()', () => {
  it.each([
    { path: 'src/a.ts', shown: 'src/a.ts' },
    { path: 'a b', shown: '"a b"' },
    { path: 'a\u202eb', shown: '"a<U+202E>b"' },
    { path: '', shown: '""' },
  ])('$shown', ({ path, shown }) => {
    expect(showPath(path)).toBe(shown);
  });

  it('is bounded', () => {
    expect(showPath('x'.repeat(5000)).length).toBeLessThan(210);
  });
});
