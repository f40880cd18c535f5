import { describe, expect, it } from 'vitest';
import type { Json } from './json.ts';
import { redactJson } from './redact.ts';

const key = 'Zk3vQ9xLw7Rt2YbN8mPc4HsD6fGj1KaE5uTi0oXq';

describe('redactJson()', () => {
  it('hides whatever stands under a secret name and keeps the shape', () => {
    const names = [
      'authorization',
      'Authorization',
      'api_key',
      'apiKey',
      'x-api-key',
      'X-Api-Key',
      'OPENAI_API_KEY',
      'cookie',
      'Set-Cookie',
      'password',
      'dbPassword',
      'secret',
      'clientSecret',
      'client_secret',
      'token',
      'access_token',
      'refreshToken',
      'ACCESS_TOKENS',
      'private_key',
      'credential',
      'credentials',
      'SecretString',
      'passphrase',
      'accesskey',
      'xapikey',
      'APIKey',
      'X-Amz-Signature',
      'http.request.header.authorization',
      '_auth',
      'password_hash',
    ];
    for (const name of names)
      expect(redactJson({ [name]: 'swordfish' }), `name ${name}`).toEqual({ [name]: '[redacted]' });
    expect(redactJson({ credentials: { user: 'ada', pins: [1234, true, null, ''] } })).toEqual({
      credentials: { user: '[redacted]', pins: ['[redacted]', true, null, ''] },
    });
  });

  it('keeps names that only sound secret', () => {
    const value = {
      max_tokens: 5,
      tokens: 'many',
      input_tokens: 1,
      inputTokens: 2,
      token_count: 3,
      tokenizer: 'cl100k',
      total_tokens: 4,
      token_type: 'bearer-like',
      eosToken: '</s>',
      nextPageToken: 'abc',
      key: 'a',
      public_key: 'b',
      cacheKey: 'c',
      keyboard: 'd',
      monkey: 'e',
      signature: 'f',
      secretary: 'g',
      PWD: '/srv',
      code: 'rate_limit_exceeded',
      author: 'ada',
      auth: 'required',
      basicInfo: 'h',
      type: 'tokens',
    };
    expect(redactJson(value)).toEqual(value);
  });

  it('hides secrets in texts, in names and in lists of headers', () => {
    expect(
      redactJson({
        message: `bad key sk-ant-api03-${key}`,
        [`by ghp_${key}`]: 1,
        rawHeaders: ['X-Api-Key', 'swordfish', 'accept', '*/*'],
        attributes: [{ key: 'http.request.header.x-api-key', value: { stringValue: 'swordfish' } }],
        arguments: '{"api_key":"swordfish"}',
      }),
    ).toEqual({
      message: 'bad key [redacted anthropic key]',
      'by [redacted github token]': 1,
      rawHeaders: ['X-Api-Key', '[redacted]', 'accept', '*/*'],
      attributes: [{ key: 'http.request.header.x-api-key', value: { stringValue: '[redacted]' } }],
      arguments: '{"api_key":"[redacted]"}',
    });
  });

  it('says whose key stands under a secret name', () => {
    expect(redactJson({ api_key: `gsk_${key}` })).toEqual({ api_key: '[redacted groq key]' });
  });

  it('keeps both members whose names are secrets', () => {
    const result = redactJson({ [`ghp_${key}`]: 1, [`gho_${key}`]: 2 });
    expect(Object.values(result as object)).toEqual([1, 2]);
    expect(JSON.stringify(result)).not.toContain(key);
  });

  it('leaves out what lies too deep or is too much', () => {
    let deep: { readonly a?: unknown } = {};
    for (let level = 0; level < 100_000; level += 1) deep = { a: deep };
    expect(JSON.stringify(redactJson(deep as never))).toContain('[left out]');
    const wide = redactJson(Array.from({ length: 300_000 }, () => 1));
    expect(wide).toHaveLength(200_001);
    expect((wide as readonly unknown[]).at(-1)).toBe('[left out]');
  });

  it('keeps 64 levels and 200,000 members, and not one more', () => {
    const nested = (levels: number): Json => (levels === 0 ? 'bottom' : [nested(levels - 1)]);
    expect(redactJson(nested(64))).toEqual(nested(64));
    expect(JSON.stringify(redactJson(nested(65)))).toContain('[left out]');
    const members = Array.from({ length: 200_001 }, (_, index) => [`m${index}`, index] as const);
    const kept = Object.entries(redactJson(Object.fromEntries(members)) as object);
    expect(kept).toHaveLength(200_001);
    expect(kept.at(-1)).toEqual(['[left out]', '[left out]']);
  });

  it('ends on a cycle and does not let a name reach the prototype', () => {
    const cycle: Record<string, unknown> = { password: 'swordfish' };
    cycle['self'] = [cycle, cycle];
    expect(JSON.stringify(redactJson(cycle as never))).not.toContain('swordfish');
    const hostile = redactJson(JSON.parse('{"__proto__":{"polluted":true}}') as never);
    expect(Object.keys(hostile as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(hostile)).toBe(Object.prototype);
  });

  it('changes nothing the second time', () => {
    const once = redactJson({ token: 'swordfish', log: `Bearer ${key}`, headers: { cookie: ['a=b'] } });
    expect(redactJson(once)).toEqual(once);
  });
});
