import { describe, expect, it } from 'vitest';
import { classifyFailure } from '../../errors/classify-failure.ts';
import {
  cancelledError,
  controlTypeOf,
  isCancelled,
  programChangedError,
  restartError,
} from './durable-errors.ts';

const revoked = Proxy.revocable({}, {});
revoked.revoke();
const change = {
  runId: 'r',
  generation: 1,
  position: 3,
  recorded: 'a sleep of 1 ms',
  asked: 'a sleep of 2 ms',
};

describe('controlTypeOf', () => {
  it.each([
    { name: 'null', stranger: () => null },
    { name: 'nothing', stranger: () => undefined },
    { name: 'a text', stranger: () => 'cancelled' },
    { name: 'any other error', stranger: () => new Error('cancelled') },
    { name: 'a revoked Proxy', stranger: () => revoked.proxy },
    { name: 'an object with the same code', stranger: () => ({ code: 'CANCELLED' }) },
  ])('does not take $name for a control error', ({ stranger }) => {
    expect(controlTypeOf(stranger())).toBeUndefined();
    expect(isCancelled(stranger())).toBe(false);
  });

  it.each([
    { error: cancelledError('r', 'enough'), type: 'cancelled', code: 'CANCELLED' },
    { error: programChangedError(change), type: 'changed', code: 'INVALID_STATE' },
    { error: restartError('r'), type: 'restart', code: 'INVALID_STATE' },
    { error: restartError(), type: 'restart', code: 'INVALID_STATE' },
  ])('knows $type, which keeps its code $code when it is classified', ({ error, type, code }) => {
    expect(controlTypeOf(error)).toBe(type);
    expect(classifyFailure(error, 'agent')).toMatchObject({ code, origin: 'durable' });
  });
});
