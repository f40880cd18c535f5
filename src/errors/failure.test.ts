import { afterEach, describe, expect, it } from 'vitest';
import { registerSecret } from '../base/redact.ts';
import { failureCodes, failureTraits } from './codes.ts';
import { createFailure, severityOf } from './failure.ts';

describe('createFailure()', () => {
  let forget = (): void => undefined;
  afterEach(() => forget());

  it('lets no secret out that stands where a text is cut', () => {
    const secret = 'correct-horse-battery-staple-and-a-long-tail-behind-it';
    forget = registerSecret(secret);
    const leaks = [200, 400, 500, 1000, 2000, 4000].flatMap((bound) =>
      Array.from({ length: 60 }, (_, offset) => bound - 58 + offset).filter((length) => {
        const text = `${'x '.repeat(length / 2)}${length % 2 === 0 ? '' : 'x'} ${secret}`;
        const failure = createFailure('UNKNOWN', {
          message: text,
          hint: text,
          context: { note: text },
          provider: { model: text },
          causes: [{ name: text, message: text, code: text }],
        });
        return JSON.stringify(failure).includes(secret.slice(0, 12));
      }),
    );
    expect(leaks).toEqual([]);
  });

  it('stays as it is when it is made again from itself, wherever the cut falls', () => {
    const values = [
      'api_key="Zk9Qx7vBZk9Qx7vB" is wrong',
      'password: "hunter22 hunter22", user',
      '?key=%22[redacted]%22&x',
    ];
    const changed = values.flatMap((value) =>
      [200, 500, 1000, 2000].flatMap((bound) =>
        Array.from({ length: 60 }, (_, offset) => bound - 60 + offset).filter((length) => {
          const text = `${'x'.repeat(length)} ${value} ${'y '.repeat(200)}`;
          const provider = { model: text, requestId: text };
          const causes = [{ name: text, message: text, code: text }];
          const { code, ...once } = createFailure('UNKNOWN', {
            message: text,
            hint: text,
            context: { text },
            provider,
            causes,
          });
          return JSON.stringify(createFailure(code, once)) !== JSON.stringify({ code, ...once });
        }),
      ),
    );
    expect(changed).toEqual([]);
  });

  it('lets no secret out where a long one before it shrinks to a mark', () => {
    const token = `eyJ${'a'.repeat(3880)}.b.cccc`;
    const leaks = Array.from({ length: 60 }, (_, length) => length).filter((length) => {
      const message = `${token} ${'y'.repeat(length)} hf_${'QxZvBnMk'.repeat(4)}qq`;
      return createFailure('UNKNOWN', { message }).message.includes('hf_QxZvBnMk');
    });
    expect(leaks).toEqual([]);
  });

  it('hides what stands under a name that says it is secret', () => {
    const failure = createFailure('UNKNOWN', {
      message: 'x',
      context: { authorization: 'Custom plainvalue123', nested: { api_key: 'plainvalue123' }, max_tokens: 5 },
    });
    expect(JSON.stringify(failure)).not.toContain('plainvalue123');
    expect(failure.context['max_tokens']).toBe(5);
  });

  it('bounds every text and every list, and says where it cut', () => {
    const long = 'x'.repeat(1_000_000);
    const failure = createFailure('UNKNOWN', {
      message: long,
      hint: long,
      provider: { provider: long, model: long, requestId: long, errorType: long },
      context: { long, [long]: 1, list: Array.from({ length: 10_000 }, () => 'y'.repeat(100)) },
      causes: Array.from({ length: 1000 }, () => ({ name: long, message: long, code: long })),
    });
    expect(failure.causes.length).toBe(8);
    expect(failure.message).toMatch(/\(cut\)$/);
    expect(JSON.stringify(failure).length).toBeLessThan(65_536);
  });

  it('cannot be changed afterwards, nor through what it was made from', () => {
    const context = { tool: 'search', list: [1, 2] };
    const causes = [{ name: 'Error', message: 'x' }];
    const failure = createFailure('TIMEOUT', {
      message: 'x',
      context,
      causes,
      provider: { provider: 'openai' },
    });
    context.list.push(3);
    causes.push({ name: 'Error', message: 'y' });
    expect(failure.context['list']).toEqual([1, 2]);
    expect(failure.causes.length).toBe(1);
    for (const part of [
      failure,
      failure.context,
      failure.context['list'],
      failure.causes,
      failure.causes[0],
      failure.provider,
    ])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it.each(failureCodes)('takes what nobody says from the table: %s', (code) => {
    const failure = createFailure(code, { message: 'x' });
    const traits = failureTraits[code];
    expect(failure).toEqual({
      code,
      origin: traits.origins[0],
      message: 'x',
      retryable: traits.retryable,
      classifiedBy: 'declared',
      context: {},
      causes: [],
    });
  });

  it('keeps what is said, zero and false included', () => {
    const failure = createFailure('RATE_LIMITED', {
      message: 'x',
      retryable: false,
      retryAfterMs: 0,
      origin: 'tool',
    });
    expect(failure).toMatchObject({ retryable: false, retryAfterMs: 0, origin: 'tool' });
  });
});

describe('severityOf()', () => {
  it('follows retryable before the table', () => {
    expect(severityOf({ code: 'RATE_LIMITED', retryable: false })).toBe('critical');
    expect(severityOf({ code: 'RATE_LIMITED', retryable: true })).toBe('retriable');
    expect(severityOf({ code: 'CONTEXT_LENGTH_EXCEEDED', retryable: false })).toBe('replanning');
    expect(severityOf({ code: 'TOOL_NOT_FOUND', retryable: false })).toBe('reclassification');
    expect(severityOf({ code: 'INTERNAL', retryable: false })).toBe('fatal');
  });

  it('follows what a capability has said of it before both, and no other word', () => {
    const broken = { code: 'TOOL_EXECUTION_ERROR', retryable: true } as const;
    expect(severityOf({ ...broken, context: { severity: 'fatal' } })).toBe('fatal');
    expect(severityOf({ ...broken, context: { severity: 'high' } })).toBe('retriable');
  });
});
