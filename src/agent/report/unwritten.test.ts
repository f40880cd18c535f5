import { describe, expect, it } from 'vitest';
import { createFailure } from '../../errors/failure.ts';
import { unwrittenText } from './unwritten.ts';

const rest = 'Nothing was done that is not on record. Repair the storage, then resume the run.';

describe('unwrittenText()', () => {
  it('prefers what the store itself says must be done', () => {
    const failure = createFailure('STORAGE_READ_ONLY', {
      message: 'attempt to write a readonly database',
      hint: 'Run chmod u+w runs.db.',
    });
    expect(unwrittenText(failure)).toBe(
      `The run could not be recorded: the saved data can be read, but nothing can be added to it. Run chmod u+w runs.db. ${rest}`,
    );
  });

  it.each([
    { code: 'STORAGE_FULL', why: 'the disk is full. Free some space' },
    { code: 'STORAGE_LOCKED', why: 'another process is using the saved data. Try again later.' },
    { code: 'STORAGE_IO', why: 'the saved data could not be read or written. Check the disk' },
    { code: 'PERMISSION_DENIED', why: 'the store refused access.' },
  ] as const)('says why in one flow of sentences: $code', ({ code, why }) => {
    const text = unwrittenText(createFailure(code, { origin: 'storage', message: 'It did not work' }));
    expect(text).toContain(`The run could not be recorded: ${why}`);
    expect(text.endsWith(`. ${rest}`)).toBe(true);
    expect(text).not.toMatch(/\.\.| {2}/);
  });
});
