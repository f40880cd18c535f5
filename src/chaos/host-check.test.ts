import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { startChaosServer } from './server.ts';
import type { ChaosServer } from './server.ts';
import type { ChaosServerOptions } from './options.ts';

// What a web page can do whose name was led to this machine: everything but choose another `Host`.

let server: ChaosServer;

afterEach(() => server.close());

async function statusFor(host: string, path = '/v1/models'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${server.url}${path}`, { headers: { host } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

const rows: readonly {
  readonly options: ChaosServerOptions;
  readonly taken: readonly string[];
  readonly refused: readonly string[];
}[] = [
  {
    options: {},
    taken: ['127.0.0.1', '127.0.0.1:80', 'localhost:9', 'LOCALHOST.', '[::1]:4000', '127.9.9.9'],
    refused: [
      'evil.example',
      'evil.example:80',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '192.168.0.7',
      '0.0.0.0',
      '[::]',
      '127.0.0.1@evil.example',
    ],
  },
  {
    options: { allowedHosts: ['host.docker.internal'] },
    taken: ['host.docker.internal:4000', 'localhost'],
    refused: ['evil.example', 'docker.internal'],
  },
  { options: { allowRemote: true }, taken: ['anything.example', '10.0.0.1:80'], refused: [] },
  {
    options: { allowRemote: true, allowedHosts: ['mine.example'] },
    taken: ['mine.example', 'localhost'],
    refused: ['evil.example'],
  },
];

describe('the chaos server and the Host of a request', () => {
  it.each(rows)('answers with $options only where it is meant', async ({ options, taken, refused }) => {
    server = await startChaosServer(options);
    for (const path of ['/v1/models', '/__chaos/counters']) {
      for (const host of taken)
        expect({ host, status: await statusFor(host, path) }).not.toMatchObject({ status: 421 });
      for (const host of refused)
        expect({ host, status: await statusFor(host, path) }).toEqual({ host, status: 421 });
    }
  });

  it('records nothing of a request that was meant for another', async () => {
    server = await startChaosServer();
    await statusFor('evil.example', '/v1/chat/completions');
    expect(server.requests).toEqual([]);
  });

  it('refuses names that can be none', async () => {
    server = await startChaosServer();
    for (const allowedHosts of [
      ['a:80'],
      ['http://a'],
      [''],
      'a',
    ] as unknown as readonly (readonly string[])[])
      await expect(startChaosServer({ allowedHosts })).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
  });
});
