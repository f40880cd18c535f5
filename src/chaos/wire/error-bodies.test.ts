import { describe, expect, it } from 'vitest';
import { classifyProviderFailure } from '../../errors/classify-provider-failure.ts';
import type { FailureCode } from '../../errors/codes.ts';
import type { Family } from '../route.ts';
import { errorKinds, wireError } from './error-bodies.ts';
import type { ErrorKind } from './error-bodies.ts';

// Whoever wrote the classifier did not write these bodies: that both mean the same is the point.

const codes: Readonly<Record<ErrorKind, FailureCode>> = {
  'rate-limit': 'RATE_LIMITED',
  quota: 'QUOTA_EXCEEDED',
  overloaded: 'OVERLOADED',
  'server-error': 'SERVER_ERROR',
  auth: 'AUTHENTICATION_ERROR',
  forbidden: 'PERMISSION_DENIED',
  billing: 'QUOTA_EXCEEDED',
  'model-not-found': 'MODEL_NOT_FOUND',
  'model-loading': 'MODEL_LOADING',
  'context-length': 'CONTEXT_LENGTH_EXCEEDED',
  'request-too-large': 'REQUEST_TOO_LARGE',
  'bad-request': 'INVALID_REQUEST',
  'content-filter': 'CONTENT_FILTERED',
};

const families: readonly Family[] = ['openai', 'anthropic', 'gemini', 'ollama'];
const cases = families.flatMap((family) => errorKinds.map((kind) => ({ family, kind, code: codes[kind] })));

describe('a refusal in the words of a provider', () => {
  it.each(cases)('$kind of $family is $code', ({ family, kind, code }) => {
    const subject = {
      model: 'chaos-large',
      requestId: 'req_1',
      waitS: undefined,
    };
    const { status, body } = wireError(family, kind, subject);
    const failure = classifyProviderFailure({ provider: family, status, body: JSON.stringify(body) });
    expect(failure.code).toBe(code);
  });

  it.each<Family>(['openai', 'gemini'])('of %s says its wait in the body', (family) => {
    const subject = { model: 'chaos-large', requestId: 'req_1', waitS: 3 };
    const { status, body } = wireError(family, 'rate-limit', subject);
    const failure = classifyProviderFailure({ provider: family, status, body: JSON.stringify(body) });
    expect(failure.retryAfterMs).toBe(3000);
  });
});
