import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:http2';
import type { Http2Server } from 'node:http2';
import { describe, expect, it } from 'vitest';
import type { RequestHandler } from '../../../src/engines/restate/index.ts';
import type { DurableProgram } from '../../../src/runtime/record/durable.ts';
import { endOf, statusOf, useScene } from './scene.ts';
import { freePort } from './server.ts';

// How a worker is reached, and by whom.

const scene = useScene();

const start = { runId: 'r', version: '1' };
const program: DurableProgram = async (durable) => (await durable.waitFor('go')).type;
/** Of nobody. */
const foreignKey = 'publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f';

/** Listens, and hands requests on by the beginning of their path. */
async function openServer(): Promise<{
  readonly server: Http2Server;
  readonly url: string;
  readonly mounted: Map<string, RequestHandler>;
}> {
  const mounted = new Map<string, RequestHandler>();
  const server = createServer((request, response) => {
    const found = [...mounted].find(([path]) => request.url.startsWith(path));
    if (found === undefined) response.writeHead(404).end();
    else found[1](request, response);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${port}`, mounted };
}

describe('a worker', () => {
  it('is mounted on a server that is there already, and answers no more once it is closed', async () => {
    const { server, url, mounted } = await openServer();
    const serve = { url, mount: (handler: RequestHandler, path: string) => void mounted.set(path, handler) };
    const engine = await scene.engineOf({ name: 'mounted', program, options: { serve } });
    expect([...mounted.keys()]).toEqual(['/rerail.mounted']);
    await engine.start(null, start);
    await engine.signal('r', 'go', { id: 'g', payload: null });
    expect(await endOf(engine, 'r')).toMatchObject({ type: 'ended', result: 'signalled' });
    await engine.close();
    const again = scene.engineOf({
      name: 'mounted',
      program,
      options: { serve: { url, mount: () => undefined } },
    });
    await expect(again).rejects.toMatchObject({
      failure: {
        origin: 'durable',
        message: expect.stringContaining(`could not register ${url}`) as unknown,
      },
    });
    server.close();
  });

  it('refuses a Restate that does not prove who it is', async () => {
    const engine = scene.engineOf({ name: 'guarded', program, options: { identityKeys: [foreignKey] } });
    await expect(engine).rejects.toMatchObject({
      failure: { message: expect.stringMatching(/could not register .*401/) as unknown },
    });
  });

  it('passes on what the SDK logs', async () => {
    const lines: string[] = [];
    const onLog = (level: string, text: string): void => void lines.push(`${level}: ${text}`);
    const worker = await scene.engineOf({ name: 'logged', program, options: { onLog } });
    await worker.start(null, start);
    await statusOf(worker, 'r', 'waiting');
    await worker.close();
    expect(lines.join('\n')).toMatch(/Starting invocation/);
  });
});

describe('a client', () => {
  it('sends its headers with every request', async () => {
    const heard: unknown[] = [];
    const server = createPlainServer((request, response) => {
      heard.push([request.url, request.headers.authorization]);
      response.end('{"status":{"type":"unknown"}}');
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const options = {
      ingressUrl: `http://127.0.0.1:${port}/`,
      serve: undefined,
      headers: { authorization: 'Bearer key' },
    };
    const client = await scene.engineOf({ name: 'a/b', program, options: options as object });
    expect(await client.status('r/1')).toEqual({ type: 'unknown' });
    expect(heard).toEqual([['/rerail.a.b.run/r%2F1/status', 'Bearer key']]);
    server.close();
  });
});
