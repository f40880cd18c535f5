import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { chaosProtocols, startChaosServer, startDeafServer } from '../../src/chaos/index.ts';
import type { ChaosServer, ChaosServerOptions, FaultEntry } from '../../src/chaos/index.ts';
import { renderFailure } from '../../src/errors/index.ts';
import { callModel, createGates } from '../../src/model/index.ts';
import type { CallOptions, CallOutcome, Model } from '../../src/model/index.ts';
import { createNodeTransport } from '../../src/providers/index.ts';
import { openai } from '../../src/providers/openai/index.ts';
import { providerModel, testKey, transportNames, transports } from './provider-models.ts';

// Rows of the survival table that need a server of their own, or none at all.

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function open(options: ChaosServerOptions = {}): Promise<ChaosServer> {
  const server = await startChaosServer(options);
  closers.push(server.close);
  return server;
}

const retry = { maxAttempts: 3, baseDelayMs: 5, maxDelayMs: 10, minDelayMs: 1, deadlineMs: 50_000 } as const;

function call(model: Model, policy: CallOptions['policy'] = {}): Promise<CallOutcome> {
  const messages = [{ role: 'user', content: 'Hello' }] as const;
  return callModel(model, { messages }, { gates: createGates(), policy: { retry, ...policy } });
}

/** A port on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo; // A TCP server has such an address.
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

describe.each(transportNames)('over %s', (transport) => {
  describe.each(chaosProtocols)('%s', (protocol) => {
    it('P01 connection refused: phase connect, nothing was sent, retried', async () => {
      const baseURL = `http://127.0.0.1:${await closedPort()}/v1`;
      const outcome = await call(providerModel(protocol, { baseURL, ...transports[transport] }));
      expect(outcome.type === 'failure' && outcome.failure).toMatchObject({
        code: 'NETWORK_ERROR',
        phase: 'connect',
        sideEffect: 'none',
      });
      expect(JSON.stringify(outcome)).toContain('ECONNREFUSED');
      expect(outcome.report.attempts).toHaveLength(3);
      expect(outcome.report.ledger.requests).toBe(0);
    });

    it('P03 a name that does not resolve: one more look, and a hint that names the host', async () => {
      const baseURL = 'https://api.no-such-host.invalid/v1';
      const outcome = await call(providerModel(protocol, { baseURL, ...transports[transport] }));
      expect(outcome.type === 'failure' && outcome.failure.code).toBe('NETWORK_ERROR');
      expect(outcome.report.attempts.length).toBeLessThanOrEqual(2);
      const told =
        outcome.type === 'failure' ? renderFailure(outcome.failure, 'person', { retrying: false }) : '';
      expect(told).toContain('api.no-such-host.invalid');
    });
  });

  it('P02 a connection that is never made: our own time, not the system’s', async () => {
    const deaf = await startDeafServer();
    closers.push(deaf.close);
    const outcome = await call(
      providerModel('openai-chat', { baseURL: `${deaf.url}/v1`, ...transports[transport] }),
      {
        retry: { ...retry, maxAttempts: 1 },
        timeouts: { connectMs: 500, headersMs: 500 },
      },
    );
    expect(outcome.type === 'failure' && outcome.failure.code).toBe('TIMEOUT');
    expect(outcome.report.elapsedMs).toBeLessThan(20_000);
    // `fetch` does not say when a connection stands; ours does.
    const expected = transport === 'fetch' ? /connect|headers/ : /^connect$/;
    expect(outcome.type === 'failure' && outcome.failure.context['timeout']).toMatch(expected);
  });

  it.each([
    ['self-signed', true],
    ['expired', 'expired'],
    ['for another name', 'wrong-name'],
  ] as const)('P05 a certificate that is %s: never retried, and no hint to look away', async (_name, tls) => {
    const server = await open({ tls });
    const outcome = await call(
      providerModel('anthropic', { baseURL: server.baseURL('anthropic'), ...transports[transport] }),
    );
    expect(outcome.type === 'failure' && outcome.failure).toMatchObject({
      code: 'NETWORK_ERROR',
      retryable: false,
    });
    expect(outcome.report.attempts).toHaveLength(1);
    expect(JSON.stringify(outcome)).not.toMatch(/NODE_TLS_REJECT|rejectUnauthorized/);
    expect(server.counters().requests).toBe(0);
  });

  it('P07 a handshake that is cut: phase connect, retried', async () => {
    const server = await open({ tls: true, faults: { script: ['tls-handshake-cut'], repeat: true } });
    const outcome = await call(
      providerModel('openai-chat', { baseURL: server.baseURL('openai-chat'), ...transports[transport] }),
    );
    // Through `fetch` a reset in the handshake looks like any other, so the more careful phase is told.
    expect(outcome.type === 'failure' && outcome.failure).toMatchObject({
      code: 'NETWORK_ERROR',
      phase: transport === 'fetch' ? 'headers' : 'connect',
    });
    expect(outcome.report.attempts).toHaveLength(3);
  });
});

describe('TLS with a certificate of one’s own', () => {
  it('works where the transport is told to trust it', async () => {
    const server = await open({ tls: true });
    const transport = createNodeTransport({ tls: { ca: server.certificate ?? '' } });
    const baseURL = server.baseURL('openai-responses').replace('127.0.0.1', 'localhost');
    const outcome = await call(openai('gpt-4o', { baseURL, apiKey: testKey, transport }));
    transport.close();
    expect(outcome.type).toBe('success');
  });
});

// Side by side, for all of their time is waiting; so nothing here may be shared.
describe.concurrent.each(chaosProtocols)('P38 Retry-After at %s, measured at the server', (protocol) => {
  async function callUnder(fault: FaultEntry): Promise<{ outcome: CallOutcome; server: ChaosServer }> {
    const server = await startChaosServer({ faults: { script: [fault] } });
    try {
      return { outcome: await call(providerModel(protocol, { baseURL: server.baseURL(protocol) })), server };
    } finally {
      await server.close();
    }
  }

  it.each([
    ['seconds', { retryAfter: 1 }, 1000],
    ['milliseconds', { retryAfter: 0.4, form: 'ms' }, 400],
    ['a date', { retryAfter: 2, form: 'date' }, 1000],
  ] as const)('waits at least as long as asked: %s', async (_name, wait, leastMs) => {
    const { outcome, server } = await callUnder({ name: 'rate-limit', ...wait });
    expect(outcome.type).toBe('success');
    const [first, second] = server.requests;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(leastMs);
  });

  it('P41 sends nothing for 40 days', async () => {
    const { outcome, server } = await callUnder({ name: 'rate-limit', retryAfter: 40 * 24 * 3600 });
    expect(outcome.type === 'failure' && outcome.failure.code).toBe('RATE_LIMITED');
    expect(outcome.report.resumeAtMs).toBeGreaterThan(Date.now() + 39 * 24 * 3600 * 1000);
    expect(server.counters().requests).toBe(1);
  });
});

describe('P50 a proxy', () => {
  const providerHost = '10.255.255.1';
  // A proxy is asked by the name of the provider, and the server answers to no name that it is not told.
  const allowedHosts = [providerHost];
  const through = (proxy: string): Model => {
    const environment = { HTTP_PROXY: proxy, http_proxy: proxy, NO_PROXY: '', no_proxy: '' };
    const transport = createNodeTransport({ environment });
    closers.push(() => Promise.resolve(transport.close()));
    return openai('gpt-4o', { baseURL: `http://${providerHost}/v1`, apiKey: testKey, transport });
  };

  it('that is dead: names it, without its password', async () => {
    const port = await closedPort();
    const outcome = await call(through(`http://user:hunter2-secret@127.0.0.1:${port}`));
    expect(outcome.type === 'failure' && outcome.failure.code).toBe('NETWORK_ERROR');
    expect(outcome.type === 'failure' && outcome.failure.message).toContain(`127.0.0.1:${port}`);
    expect(JSON.stringify(outcome)).not.toContain('hunter2-secret');
  });

  it('that wants a password: is not asked again', async () => {
    const faults = { script: [{ name: 'status', status: 407 }], repeat: true } as const;
    const server = await open({ allowedHosts, faults });
    const outcome = await call(through(server.url.replace('://', '://user:hunter2-secret@')));
    expect(outcome.type === 'failure' && outcome.failure).toMatchObject({
      code: 'NETWORK_ERROR',
      retryable: false,
    });
    expect(server.counters().requests).toBe(1);
    expect(JSON.stringify(outcome)).not.toContain('hunter2-secret');
  });

  it('that works: carries the call', async () => {
    const server = await open({ allowedHosts });
    const outcome = await call(through(server.url));
    expect(outcome.type).toBe('success');
    expect(server.counters().requests).toBe(1);
  });
});
