import { request } from 'node:http';
import { isRecord } from '../../base/json.ts';

/** A server on this machine that speaks OpenAI's protocol. */
export interface LocalServer {
  /** The name of the provider in the registry. */
  readonly provider: string;
  readonly port: number;
  /** The first model that it names and that can talk. */
  readonly model: string;
}

/** Where a server is looked for: the usual port of each, in the order in which they count. */
export const localPorts: readonly Pick<LocalServer, 'provider' | 'port'>[] = [
  { provider: 'ollama', port: 11_434 },
  { provider: 'lmstudio', port: 1234 },
  { provider: 'llamacpp', port: 8080 },
  { provider: 'vllm', port: 8000 },
];

const maxWaitMs = 300;
const maxBytes = 256_000;

/** Asks all ports at once which models they have. Sends no key, follows nothing, and waits 300 ms at most. */
export async function findLocalServer(
  ports: readonly Pick<LocalServer, 'provider' | 'port'>[] = localPorts,
): Promise<LocalServer | undefined> {
  const signal = AbortSignal.timeout(maxWaitMs);
  const found = await Promise.all(
    ports.map(async ({ provider, port }) => {
      const model = firstModel(await get(port, signal));
      return model === undefined ? undefined : { provider, port, model };
    }),
  );
  return found.find((server) => server !== undefined);
}

/** The body of a plain 200 in JSON; anything else is no server of ours. */
function get(port: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const none = (): void => resolve('');
    const sent = request({
      host: '127.0.0.1',
      port,
      path: '/v1/models',
      agent: false,
      signal,
      maxHeaderSize: 16_384,
    });
    sent.on('error', none);
    sent.on('close', none);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      if (response.statusCode !== 200) sent.destroy();
      response.on('error', none);
      response.on('close', none);
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        chunks.push(chunk);
        if (length > maxBytes) sent.destroy();
      });
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    });
    sent.end();
  });
}

const maxModels = 200;

function firstModel(body: string): string | undefined {
  const document = parse(body);
  const list: unknown = isRecord(document) ? document['data'] : undefined;
  if (!Array.isArray(list)) return undefined;
  const names = list.slice(0, maxModels).flatMap((item: unknown) => {
    const id: unknown = isRecord(item) ? item['id'] : undefined;
    return typeof id === 'string' && /^[\u0021-\u007e]{1,200}$/.test(id) ? [id] : [];
  });
  return names.find((name) => !/embed/i.test(name));
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined; // Something else listens there.
  }
}
