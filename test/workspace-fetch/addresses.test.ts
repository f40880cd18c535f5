import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callFetch, startSite } from './call-fetch.ts';
import type { TestSite } from './call-fetch.ts';

let site: TestSite;
let resolved: string[] = [];

/** What names stand for in these tests. None of the public addresses is ever dialled. */
const names: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1', '::1'],
  'rebound.test': ['127.0.0.1'],
  'mixed.test': ['93.184.216.34', '127.0.0.1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'sixtofour.test': ['2002:7f00:1::'],
  'zone.test': ['fe80::1%lo'],
  'odd.test': ['not an address'],
  'empty.test': [],
  'listed.test': ['127.0.0.1'],
};

const resolve = (host: string): Promise<readonly string[]> => {
  resolved.push(host);
  const found = names[host];
  if (found !== undefined) return Promise.resolve(found);
  return Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }));
};

beforeAll(async () => {
  site = await startSite((request, response) => {
    const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
    // As a server sends it whose header is UTF-8.
    const location = to === null ? null : Buffer.from(to).toString('latin1');
    response.writeHead(location === null ? 200 : 302, {
      'content-type': 'text/plain',
      ...(location === null ? {} : { location }),
    });
    response.end('reached');
  });
});

beforeEach(() => {
  resolved = [];
});

afterAll(async () => {
  await site.close();
});

/** Everything that a URL parser or a resolver makes a private address of. */
const hosts: readonly { readonly host: string; readonly address: string }[] = [
  { host: '127.0.0.1', address: '127.0.0.1' },
  { host: '127.1', address: '127.0.0.1' },
  { host: '2130706433', address: '127.0.0.1' },
  { host: '0x7f.0.0.1', address: '127.0.0.1' },
  { host: '0x7f000001', address: '127.0.0.1' },
  { host: '0177.0.0.1', address: '127.0.0.1' },
  { host: '017700000001', address: '127.0.0.1' },
  { host: '127.0.0.1.', address: '127.0.0.1' },
  { host: '１２７.０.０.１', address: '127.0.0.1' },
  { host: '127。0。0。1', address: '127.0.0.1' },
  { host: '①②⑦.⓪.⓪.①', address: '127.0.0.1' },
  { host: '127.0.0.2', address: '127.0.0.2' },
  { host: '0', address: '0.0.0.0' },
  { host: '0.0.0.0', address: '0.0.0.0' },
  { host: '[::]', address: '::' },
  { host: '[::1]', address: '::1' },
  { host: '[0:0:0:0:0:0:0:1]', address: '::1' },
  { host: '[::ffff:127.0.0.1]', address: '::ffff:7f00:1' },
  { host: '[::ffff:7f00:1]', address: '::ffff:7f00:1' },
  { host: '[::127.0.0.1]', address: '::7f00:1' },
  { host: '[64:ff9b::127.0.0.1]', address: '64:ff9b::7f00:1' },
  { host: '[2002:7f00:1::]', address: '2002:7f00:1::' },
  { host: '[2001::1]', address: '2001::1' },
  { host: '[fe80::1]', address: 'fe80::1' },
  { host: '[fd00:ec2::254]', address: 'fd00:ec2::254' },
  { host: '169.254.169.254', address: '169.254.169.254' },
  { host: '0xa9fea9fe', address: '169.254.169.254' },
  { host: '100.100.100.200', address: '100.100.100.200' },
  { host: '192.0.0.192', address: '192.0.0.192' },
  { host: '168.63.129.16', address: '168.63.129.16' },
  { host: '10.1.2.3', address: '10.1.2.3' },
  { host: '172.16.5.5', address: '172.16.5.5' },
  { host: '192.168.0.1', address: '192.168.0.1' },
  { host: '224.0.0.251', address: '224.0.0.251' },
  { host: '255.255.255.255', address: '255.255.255.255' },
  { host: 'localhost', address: '127.0.0.1' },
  { host: 'LOCALHOST', address: '127.0.0.1' },
  { host: 'localhost.', address: '127.0.0.1' },
  { host: 'rebound.test', address: '127.0.0.1' },
  { host: 'mixed.test', address: '127.0.0.1' },
  { host: 'mapped.test', address: '::ffff:127.0.0.1' },
  { host: 'metadata.test', address: '169.254.169.254' },
  { host: 'nat64.test', address: '64:ff9b::7f00:1' },
  { host: 'sixtofour.test', address: '2002:7f00:1::' },
  { host: 'zone.test', address: 'fe80::1%lo' },
  { host: 'odd.test', address: 'not an address' },
];

describe('fetch of what is not public', () => {
  it.each(hosts)('never reaches $address as $host', async ({ host, address }) => {
    const before = site.connections();
    await expect(callFetch({ url: `http://${host}:${site.port}/` }, { resolve })).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining(`the address ${address}`) as string,
    });
    expect(site.connections()).toBe(before);
  });

  it.each(hosts)('never reaches $address as $host by a redirect', async ({ host }) => {
    const to = encodeURIComponent(`http://${host}:${site.port + 1}/`);
    const before = site.connections();
    await expect(
      callFetch({ url: `${site.url}/?to=${to}` }, { resolve, allowPrivate: [site.host] }),
    ).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('which is another host or port') as string,
    });
    expect(site.connections()).toBe(before + 1);
  });

  it('says which name stands for which address, and what to do', async () => {
    await expect(callFetch({ url: 'http://rebound.test/' }, { resolve })).rejects.toMatchObject({
      message:
        'Cannot fetch from "rebound.test": the address 127.0.0.1 that "rebound.test" stands for is not public (loopback)',
      failure: { retryable: false, hint: expect.stringContaining('allowPrivate') as string },
    });
  });

  it('asks for the address of a name once, and dials what it was told then', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    const flip = (host: string): Promise<readonly string[]> => {
      resolved.push(host);
      return Promise.resolve(answers.shift() ?? []);
    };
    const url = `http://flip.test:${site.port}/`;
    expect(await callFetch({ url }, { resolve: flip, allowPrivate: [`flip.test:${site.port}`] })).toContain(
      '| reached',
    );
    expect(resolved).toEqual(['flip.test']);
    expect(site.requests.at(-1)?.headers['host']).toBe(`flip.test:${site.port}`);
  });

  it('checks the name again at each redirect, also to the same host', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    const flip = (): Promise<readonly string[]> => Promise.resolve(answers.shift() ?? []);
    const host = `flip.test:${site.port}`;
    const url = `http://${host}/?to=/again`;
    await expect(callFetch({ url }, { resolve: flip, allowPrivate: [host] })).rejects.toThrow(
      /169\.254\.169\.254/,
    );
  });

  it('does not take a name on the list to where credentials are handed out', async () => {
    const options = { resolve, allowPrivate: ['metadata.test:80', 'mapped.test:80'] };
    await expect(callFetch({ url: 'http://metadata.test/' }, options)).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
    });
    await expect(callFetch({ url: 'http://mapped.test/' }, options)).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
    });
  });

  it.each([
    { what: 'another port', allowed: () => `127.0.0.1:${site.port + 1}` },
    { what: 'another host', allowed: () => `127.0.0.2:${site.port}` },
    { what: 'a name for the same address', allowed: () => `localhost:${site.port}` },
  ])('is not allowed by $what on the list', async ({ allowed }) => {
    await expect(callFetch({ url: site.url }, { resolve, allowPrivate: [allowed()] })).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
    });
  });

  it('never talks to our own port, even if it is on the list', async () => {
    const options = { allowPrivate: [site.host], ownPorts: () => [site.port] };
    await expect(callFetch({ url: site.url }, options)).rejects.toThrow(/Rerail itself listens there/);
  });

  it.each([
    { what: 'a name that nobody has', host: 'absent.test' },
    { what: 'a name that stands for nothing', host: 'empty.test' },
  ])('says that there is no host for $what', async ({ host }) => {
    await expect(callFetch({ url: `http://${host}/` }, { resolve })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('says that a name could not be looked up for now', async () => {
    const down = (): Promise<never> =>
      Promise.reject(Object.assign(new Error('EAI_AGAIN'), { code: 'EAI_AGAIN' }));
    await expect(callFetch({ url: 'http://a.test/' }, { resolve: down })).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
      failure: { retryable: true },
    });
  });

  it('stops waiting for a look-up that never ends', async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    await expect(
      callFetch({ url: 'http://a.test/' }, { resolve: never, timeoutMs: 50 }),
    ).rejects.toMatchObject({
      code: 'TIMEOUT',
    });
  });

  it('reaches a host on the list by name and by address', async () => {
    const options = { resolve, allowPrivate: [site.host, `listed.test:${site.port}`] };
    expect(await callFetch({ url: site.url }, options)).toContain('| reached');
    expect(await callFetch({ url: `http://listed.test:${site.port}/` }, options)).toContain('| reached');
  });
});
