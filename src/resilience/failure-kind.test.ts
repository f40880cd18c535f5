import { describe, expect, it } from 'vitest';
import type { FailureCode } from '../errors/codes.ts';
import { createFailure } from '../errors/failure.ts';
import type { FailureDetails } from '../errors/failure.ts';
import { kindOf, maxRepeatsOf } from './failure-kind.ts';

interface Row {
  readonly name: string;
  readonly code: FailureCode;
  readonly details?: Partial<FailureDetails>;
  readonly kind: string;
  readonly repeats: number;
}

const rows: readonly Row[] = [
  {
    name: 'a page instead of an answer',
    code: 'INVALID_RESPONSE',
    details: { context: { isNoAnswer: true } },
    kind: 'NO_ANSWER',
    repeats: 1,
  },
  {
    name: 'a name that does not resolve',
    code: 'NETWORK_ERROR',
    details: { causes: [{ name: 'Error', message: 'getaddrinfo', code: 'ENOTFOUND' }] },
    kind: 'NAME_NOT_FOUND',
    repeats: 1,
  },
  {
    name: 'a garbled answer',
    code: 'INVALID_RESPONSE',
    details: { context: { maxBytes: 8_388_608 } },
    kind: 'INVALID_RESPONSE',
    repeats: Infinity,
  },
  {
    name: 'a page of a gateway, which says that the server is down',
    code: 'SERVER_ERROR',
    details: { context: { isNoAnswer: true } },
    kind: 'SERVER_ERROR',
    repeats: Infinity,
  },
  {
    name: 'a broken connection',
    code: 'NETWORK_ERROR',
    details: { causes: [{ name: 'Error', message: 'read', code: 'ECONNRESET' }] },
    kind: 'NETWORK_ERROR',
    repeats: Infinity,
  },
  { name: 'an empty answer', code: 'EMPTY_RESPONSE', kind: 'EMPTY_RESPONSE', repeats: 1 },
  { name: 'a wrong key', code: 'AUTHENTICATION_ERROR', kind: 'AUTHENTICATION_ERROR', repeats: 0 },
];

describe('the kind of a failure', () => {
  it.each(rows)(
    'is $kind for $name, which may come back $repeats times',
    ({ code, details, ...expected }) => {
      const failure = createFailure(code, { message: 'it failed', ...details });
      expect({ kind: kindOf(failure), repeats: maxRepeatsOf(failure) }).toEqual({
        kind: expected.kind,
        repeats: expected.repeats,
      });
    },
  );
});
