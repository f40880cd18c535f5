import { describe, expect, it } from 'vitest';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { toAiSdkError } from './to-ai-sdk-error.ts';

describe('toAiSdkError()', () => {
  const failure = createFailure('RATE_LIMITED', {
    message: 'Slow down',
    retryAfterMs: 500,
    provider: { provider: 'openai', statusCode: 429 },
  });

  it('makes an error that the AI SDK takes for its own and does not retry, though the failure is retryable', () => {
    const error = toAiSdkError(failure);
    expect(error).toMatchObject({
      name: 'AI_APICallError',
      message: 'Slow down',
      statusCode: 429,
      isRetryable: false,
    });
    for (const marker of ['vercel.ai.error', 'vercel.ai.error.AI_APICallError']) {
      expect(Reflect.get(error, Symbol.for(marker))).toBe(true);
    }
  });

  it('keeps the failure as its cause', () => {
    const { cause } = toAiSdkError(failure);
    expect(RerailError.isInstance(cause) && cause.failure).toBe(failure);
    expect(classifyFailure(toAiSdkError(failure), 'model')).toEqual(failure);
  });

  it('makes an AbortError of a cancelled call', () => {
    const error = toAiSdkError(createFailure('CANCELLED', { message: 'Enough' }));
    expect(error).toMatchObject({ name: 'AbortError', message: 'Enough' });
    expect(error).not.toHaveProperty('isRetryable');
  });
});
