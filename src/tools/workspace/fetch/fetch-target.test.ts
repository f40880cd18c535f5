import { describe, expect, it } from 'vitest';
import { readListed, readRedirect, readTarget } from './fetch-target.ts';
import type { FetchRules } from './fetch-target.ts';

const rules: FetchRules = {
  listed: readListed(['127.0.0.1:8080', 'Intranet.Test:81', '[::1]:3000', '2130706433:9000']),
  ownPorts: () => [4317],
};

describe('readListed()', () => {
  it.each([
    '127.0.0.1',
    'localhost',
    'http://localhost:80',
    'host:99999',
    'host:',
    ':80',
    'a b:80',
    'user@host:80',
    '',
  ])('refuses %j', (entry) => {
    expect(() => readListed([entry])).toThrow(/"allowPrivate" must list hosts with their ports/);
  });
});

describe('readTarget()', () => {
  it.each([
    { url: 'file:///etc/passwd', code: 'PERMISSION_DENIED', says: /file: addresses/ },
    { url: 'data:text/html,<b>hi</b>', code: 'PERMISSION_DENIED', says: /data: addresses/ },
    { url: 'gopher://example.com/1', code: 'PERMISSION_DENIED', says: /gopher: addresses/ },
    { url: 'ftp://example.com/', code: 'PERMISSION_DENIED', says: /ftp: addresses/ },
    { url: 'javascript:alert(1)', code: 'PERMISSION_DENIED', says: /javascript: addresses/ },
    { url: 'ws://example.com/', code: 'PERMISSION_DENIED', says: /ws: addresses/ },
    { url: 'https://user:secret@example.com/', code: 'PERMISSION_DENIED', says: /user name or a password/ },
    { url: 'https://token@example.com/', code: 'PERMISSION_DENIED', says: /user name or a password/ },
    { url: 'https://example.com:22/', code: 'PERMISSION_DENIED', says: /port 22 of "example.com"/ },
    { url: 'http://example.com:25/', code: 'PERMISSION_DENIED', says: /port 25/ },
    { url: 'http://example.com:1024/', code: 'PERMISSION_DENIED', says: /port 1024/ },
    { url: 'http://example.com:4317/', code: 'PERMISSION_DENIED', says: /Rerail itself listens there/ },
    { url: 'example.com', code: 'VALIDATION_ERROR', says: /no web address/ },
    { url: '', code: 'VALIDATION_ERROR', says: /no web address/ },
    { url: 'http://', code: 'VALIDATION_ERROR', says: /no web address/ },
    { url: String.raw`http://example.com\@127.0.0.1/`, code: 'VALIDATION_ERROR', says: /no web address/ },
    { url: 'http://exa\tmple.com/', code: 'VALIDATION_ERROR', says: /<U\+0009>/ },
    { url: 'http://example.com/\nHost: x', code: 'VALIDATION_ERROR', says: /<U\+000A>/ },
    { url: 'http://127.0.0.1%00.example.com/', code: 'VALIDATION_ERROR', says: /no web address/ },
    { url: 'http://example.com/\u202Etxt.exe', code: 'VALIDATION_ERROR', says: /<U\+202E>/ },
    { url: `http://example.com/${'a'.repeat(5000)}`, code: 'VALIDATION_ERROR', says: /no web address/ },
  ])('refuses $url', ({ url, code, says }) => {
    const read = (): unknown => readTarget(url, rules);
    expect(read).toThrow(says);
    expect(read).toThrow(expect.objectContaining({ failure: expect.objectContaining({ code }) as unknown }));
  });

  it('never repeats a password', () => {
    expect(() => readTarget('https://user:secret@example.com/', rules)).not.toThrow(/secret/);
  });

  it.each([
    { url: 'https://Example.COM./a?b#c', host: 'example.com', port: 443, isListed: false },
    { url: 'http://example.com/', host: 'example.com', port: 80, isListed: false },
    { url: 'http://example.com:8080/', host: 'example.com', port: 8080, isListed: false },
    { url: 'http://127.1:8080/', host: '127.0.0.1', port: 8080, isListed: true },
    { url: 'http://127.0.0.1:8081/', host: '127.0.0.1', port: 8081, isListed: false },
    { url: 'http://intranet.test:81/', host: 'intranet.test', port: 81, isListed: true },
    { url: 'http://[0::1]:3000/', host: '::1', port: 3000, isListed: true },
    { url: 'http://127.0.0.1:9000/', host: '127.0.0.1', port: 9000, isListed: true },
    { url: ' https://example.com/ ', host: 'example.com', port: 443, isListed: false },
  ])('reads $url', ({ url, host, port, isListed }) => {
    expect(readTarget(url, rules)).toMatchObject({ host, port, isListed });
  });
});

describe('readRedirect()', () => {
  const from = readTarget('https://example.com/a/b', rules);

  it.each([
    { location: 'http://example.com/', code: 'PERMISSION_DENIED', says: /from https to unprotected http/ },
    { location: 'file:///etc/passwd', code: 'PERMISSION_DENIED', says: /file: addresses/ },
    { location: 'https://user@example.com/', code: 'PERMISSION_DENIED', says: /user name/ },
    { location: 'https://example.com:22/', code: 'PERMISSION_DENIED', says: /port 22/ },
    { location: 'https://', code: 'INVALID_RESPONSE', says: /no web address/ },
    { location: 'https://other.example/', code: 'VALIDATION_ERROR', says: /another host or port/ },
    { location: '//other.example/', code: 'VALIDATION_ERROR', says: /another host or port/ },
    { location: 'https://www.example.com/', code: 'VALIDATION_ERROR', says: /another host or port/ },
    {
      location: 'https://example.com.other.example/',
      code: 'VALIDATION_ERROR',
      says: /another host or port/,
    },
    { location: 'https://example.com:8443/', code: 'VALIDATION_ERROR', says: /another host or port/ },
    { location: 'https://93.184.216.34/', code: 'VALIDATION_ERROR', says: /another host or port/ },
    { location: `/${'a'.repeat(5000)}`, code: 'INVALID_RESPONSE', says: /no web address/ },
  ])('refuses to go on to $location', ({ location, code, says }) => {
    const read = (): unknown => readRedirect(location, from, rules);
    expect(read).toThrow(says);
    expect(read).toThrow(expect.objectContaining({ failure: expect.objectContaining({ code }) as unknown }));
  });

  it('forgets that a host is listed where a stranger sends us there', () => {
    const upgrade = { listed: readListed(['example.com:443']), ownPorts: () => [] };
    const stranger = readTarget('http://example.com/', upgrade);
    expect(readRedirect('https://example.com/', stranger, upgrade)).toMatchObject({ isListed: false });
    const listed = readTarget('http://127.0.0.1:8080/', rules);
    expect(readRedirect('http://127.0.0.1:8080/b', listed, rules)).toMatchObject({ isListed: true });
  });

  it('goes on to the same host by https, and to the same host written otherwise', () => {
    const plain = readTarget('http://example.com/', rules);
    expect(readRedirect('https://example.com/a', plain, rules)).toMatchObject({ port: 443 });
    expect(readRedirect('https://EXAMPLE.com.:443/a', from, rules)).toMatchObject({ host: 'example.com' });
  });

  it('reads a place beside the page', () => {
    expect(readRedirect('../c', from, rules).url.href).toBe('https://example.com/c');
  });
});
