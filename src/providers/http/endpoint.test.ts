import { describe, expect, it } from 'vitest';
import { createEndpoint } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';

function endpointOf(baseURL: string, query: Readonly<Record<string, string>> = {}): Endpoint {
  return createEndpoint({ provider: 'test', baseURL, headers: { 'X-Key': 'a' }, query, isStream: true });
}

describe('createEndpoint', () => {
  it.each([
    { baseURL: 'api.example.com/v1', reason: 'not an address' },
    { baseURL: '', reason: 'not an address' },
    { baseURL: 'ftp://api.example.com', reason: 'http://' },
    { baseURL: 'https://me:secret-word@api.example.com', reason: 'password' },
  ])('refuses "$baseURL" when it is made', ({ baseURL, reason }) => {
    expect(() => endpointOf(baseURL)).toThrow(reason);
    expect(() => endpointOf(baseURL)).toThrow(expect.objectContaining({ code: 'CONFIG_ERROR' }));
    expect(() => endpointOf(baseURL)).not.toThrow('secret-word');
  });

  it.each([
    { baseURL: 'https://a.test/v1', path: '/chat', url: 'https://a.test/v1/chat' },
    { baseURL: 'https://a.test/v1//', path: 'chat', url: 'https://a.test/v1/chat' },
    { baseURL: 'https://a.test', path: '/chat', url: 'https://a.test/chat' },
    {
      baseURL: 'https://a.test/v1?key=1',
      path: '/chat?alt=sse',
      url: 'https://a.test/v1/chat?alt=sse&key=1&version=2%263',
    },
  ])('joins $baseURL and $path', ({ baseURL, path, url }) => {
    const endpoint = endpointOf(baseURL, baseURL.includes('?') ? { version: '2&3' } : {});
    expect(endpoint.urlFor('/other')).toContain('/other');
    expect(endpoint.urlFor(path)).toBe(url);
    expect(endpoint.urlFor(path)).toBe(url);
  });

  it('sends one header of a name, the last that was given', () => {
    const endpoint = endpointOf('https://a.test');
    expect(endpoint.headersFor(undefined, undefined)).toBe(endpoint.headersFor());
    expect(endpoint.headersFor({ 'x-KEY': 'b' }, { Authorization: 'c' })).toMatchObject({
      'x-key': 'b',
      authorization: 'c',
      'accept-encoding': 'identity',
    });
    expect(endpoint.headersFor()).toMatchObject({ 'x-key': 'a' });
  });
});
