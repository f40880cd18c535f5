import { X509Certificate } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { ask } from '../../test/chaos/bare-client.ts';
import { question } from '../../test/chaos/bodies.ts';
import { createSelfSigned } from './certificate.ts';
import type { ChaosServerOptions } from './options.ts';
import { startChaosServer } from './server.ts';
import type { ChaosServer } from './server.ts';

const servers: ChaosServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(options: ChaosServerOptions): Promise<ChaosServer> {
  const server = await startChaosServer(options);
  servers.push(server);
  return server;
}

function post(server: ChaosServer, isTrusted = true, fault?: string) {
  const { path, body } = question('openai-chat');
  const headers = fault === undefined ? {} : { 'x-rerail-fault': fault };
  const trust = isTrusted && server.certificate !== undefined ? { ca: server.certificate } : {};
  return ask(server.url + path, { body, headers, ...trust }).done;
}

describe('a chaos server under TLS', () => {
  it.each([
    ['a certificate that nobody vouches for', true, false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['one that has run out', 'expired', true, 'CERT_HAS_EXPIRED'],
    ['one for another name', 'wrong-name', true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ] as const)('shows %s', async (...[, tls, isTrusted, error]) => {
    const server = await start({ tls });
    expect(await post(server, isTrusted)).toMatchObject({ status: undefined, error });
    expect(server.counters()).toMatchObject({ requests: 0, connections: 1 });
  });

  it('answers well to whoever trusts it', async () => {
    const server = await start({ tls: true });
    expect(server.url).toMatch(/^https:\/\/127/);
    expect(await post(server)).toMatchObject({ status: 200, isWhole: true });
  });

  it('hands its certificate out, and says so where it has none', async () => {
    const server = await start({ tls: true });
    const { certificate = '' } = server;
    const given = await ask(`${server.url}/__chaos/certificate`, { method: 'GET', ca: certificate }).done;
    expect(given.bytes.toString()).toBe(certificate);
    const plain = await start({});
    const refused = await ask(`${plain.url}/__chaos/certificate`, { method: 'GET' }).done;
    expect(refused.bytes.toString()).toContain('has no certificate');
  });

  it('takes a certificate of the caller', async () => {
    const { key, cert } = createSelfSigned('valid', Date.now());
    const server = await start({ tls: { key, cert } });
    expect(await post(server)).toMatchObject({ status: 200 });
  });

  it('cuts the handshake, takes a turn of the script for it and records it', async () => {
    const server = await start({
      tls: true,
      faults: { script: ['tls-handshake-cut', null, 'tls-handshake-cut'] },
    });
    const seen = [await post(server), await post(server), await post(server), await post(server)];
    expect(seen.map(({ status, error }) => error ?? status)).toEqual(['ECONNRESET', 200, 'ECONNRESET', 200]);
    expect(server.requests.map(({ faultDelivered }) => faultDelivered)).toEqual([
      'tls-handshake-cut',
      undefined,
      'tls-handshake-cut',
      undefined,
    ]);
  });

  it.each(['reset-before-headers', 'reset-mid-stream', 'close-mid-stream'])(
    'breaks below TLS: %s',
    async (fault) => {
      const server = await start({ tls: true });
      expect(await post(server, true, fault)).toMatchObject({ error: 'ECONNRESET', isWhole: false });
      expect(server.requests.at(-1)?.faultDelivered).toBe(fault);
    },
  );
});

describe('createSelfSigned()', () => {
  it('makes what OpenSSL reads: names, times and a signature of its own', () => {
    const now = Date.now();
    const certificate = new X509Certificate(createSelfSigned('valid', now).cert);
    expect(certificate.subject).toBe('CN=localhost');
    expect(certificate.subjectAltName).toBe(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    );
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(Date.parse(certificate.validFrom)).toBeLessThan(now);
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(now);
    expect(certificate.ca).toBe(true);
  });
});
