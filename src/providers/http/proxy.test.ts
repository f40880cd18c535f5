import { describe, expect, it } from 'vitest';
import { proxyFor } from './proxy.ts';

const target = new URL('https://api.example.com/v1');

describe('proxyFor', () => {
  it.each(['socks5://host:1080', 'http://', '::::'])(
    'refuses the address %s and does not show it',
    (value) => {
      expect(() => proxyFor(target, { HTTPS_PROXY: value })).toThrow('HTTPS_PROXY is not the address');
    },
  );

  it.each([
    { environment: {}, name: undefined },
    { environment: { HTTPS_PROXY: '  ' }, name: undefined },
    { environment: { HTTP_PROXY: 'http://p:1' }, name: undefined },
    { environment: { HTTPS_PROXY: 'http://p:3128' }, name: 'p:3128' },
    { environment: { HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:2' }, name: 'b:2' },
    { environment: { HTTPS_PROXY: 'p:3128' }, name: 'p:3128' },
    { environment: { HTTPS_PROXY: 'http://u:w%zz@p' }, name: 'p:80' },
    { environment: { HTTPS_PROXY: 'https://p' }, name: 'p:443' },
    { environment: { HTTPS_PROXY: 'http://[::1]:8080' }, name: '[::1]:8080' },
  ])('reads $environment', ({ environment, name }) => {
    expect(proxyFor(target, environment)?.name).toBe(name);
  });

  it.each([
    { list: '*', isExempt: true },
    { list: 'api.example.com', isExempt: true },
    { list: 'localhost,example.com', isExempt: true },
    { list: '.example.com', isExempt: true },
    { list: '*.example.com', isExempt: true },
    { list: 'API.EXAMPLE.COM:443', isExempt: true },
    { list: 'api.example.com:8443', isExempt: false },
    { list: 'ample.com', isExempt: false },
    { list: 'example.com.evil', isExempt: false },
    { list: '', isExempt: false },
  ])('takes NO_PROXY "$list" for an exemption: $isExempt', ({ list, isExempt }) => {
    const proxy = proxyFor(target, { HTTPS_PROXY: 'http://p:1', NO_PROXY: list });
    expect(proxy === undefined).toBe(isExempt);
  });
});
