import { describe, expect, it } from 'vitest';
import { redact } from './redact.ts';

describe('redact() keeps', () => {
  const cases: readonly string[] = [
    '',
    'Bearer token',
    'Use Bearer authentication, or Basic authentication with HTTPS.',
    'WWW-Authenticate: Bearer realm="api", error="invalid_token"',
    'Authorization header missing',
    'Authorization: required',
    'Authorization: Bearer <token>',
    'invalid x-api-key',
    'Invalid character in header content ["x-api-key"]',
    'Invalid header value: must be a string',
    'No API key provided. Set your api key first.',
    'API key: missing',
    'Error fetching the token: Network request failed',
    'Invalid token: AccessDenied for request req_011CSHoEeqs5C35K2UUqR7Fy',
    'Cannot refresh the token: connect ECONNREFUSED 127.0.0.1:443',
    'the password is wrong; password: must be longer',
    'Your api key: ****REDACTED is invalid',
    'Incorrect API key provided: sk-proj-********abcd.',
    'Incorrect API key provided: sk-...abcd.',
    'max_tokens=4096 input_tokens: 12 "total_tokens":123456789012 token_count=99999999999',
    '"type":"tokens","code":"rate_limit_exceeded","param":null',
    'code: 429, code=rate_limit_exceeded, https://x.io/help?code=rate_limit_exceeded',
    `SyntaxError: Unexpected token 'e', "event: err" is not valid JSON; Unexpected token: "event"`,
    '{"tokenizer":"cl100k_base_v2_2024","eos_token":"<|endoftext_12345|>","next_page_token":"c29tZSBwYWdl"}',
    '{"cache_key":"a1b2c3d4e5f6g7h8","public_key":"a1b2c3d4e5f6g7h8","key":"a1b2c3d4e5f6g7h8"}',
    'interface A { apiKey: string; password?: string; token: string | undefined }',
    'const apiKey = process.env.API_KEY; client(api_key=api_key, token=get_token())',
    'password=${DB_PASSWORD} token=$TOKEN api_key=<your key> secret={{secret}} API_KEY=your-api-key',
    'PWD=/srv/app OLDPWD=/srv',
    'claude-sonnet-4-5-20250929 gpt-4o-2024-08-06 pplx-70b-online xai-grok-beta-fast-reasoning-latest',
    'task-force-of-twenty-people-and-more disk-usage-of-the-whole-machine-0123456789 risk-assessment',
    'voice sk-SK-Chirp3-HD-Achernar and the package sk-learn-contrib-project-template',
    'req_011CSHoEeqs5C35K2UUqR7Fy chatcmpl-9f8a7b6c5d4e3f2a1b0c msg_01XFDUDYJgAACzvnptvVoYEL',
    'toolu_01A09q90qw90lq917835lq9 call_abc123DEF456ghi789 org-AbCdEf1234567890AbCdEf12 resp_68a1b2c3d4e5f6',
    '550e8400-e29b-41d4-a716-446655440000 da39a3ee5e6b4b0d3255bfef95601890afd80709 #ff00aa',
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
    'hf_hub_download npm_config_registry=https://npm.example.com npm_lifecycle_event=test',
    '/srv/.config/tokens/key.json:12:5 at getToken (file:///srv/src/token.ts:10:3)',
    'https://x.io/v1/models?alt=sse&page=2 https://medium.com/@ada http://[::1]:8080/@x git@github.com:a/b.git',
    'ssh://git@github.com/a/b http://localhost:3000/a@b https://ada@x.io/',
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
    'eyJ is how base64 of JSON begins; eyJhIjoxfQ is one such text, eyJhIjoxfQ.json a file',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'ASIA and AKIA are prefixes; ghp_, sk-ant- and AIza too',
    'Set-Cookie headers are dropped; cookie: none',
    '[redacted] and [redacted anthropic key]: 550e8400-e29b-41d4-a716-446655440000',
  ];

  it.each(cases)('%j', (text) => {
    expect(redact(text)).toBe(text);
  });
});
