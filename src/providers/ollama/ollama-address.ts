import type { Environment } from '../api-key.ts';
import type { Address } from '../open-endpoint.ts';
import type { ProviderOptions } from '../provider-options.ts';

const versionPath = '/v1';
const defaultPort = 11_434;

/** Where Ollama listens: `baseURL`, or `OLLAMA_HOST` in every form that Ollama itself reads, or its usual port here. */
export function ollamaAddress({ baseURL }: ProviderOptions, environment: Environment): Address {
  if (baseURL !== undefined) {
    return { url: baseURL, place: 'The option "baseURL"', versionPath, isOfficial: false };
  }
  const host = (environment['OLLAMA_HOST'] ?? '').trim();
  const url = host === '' ? `http://127.0.0.1:${defaultPort}` : toURL(host);
  return { url, place: 'The address in OLLAMA_HOST', versionPath, isOfficial: false };
}

/** `0.0.0.0`, `:11435`, `box`, `box:80`, `http://box`: with a scheme the port is the scheme's, without one it is Ollama's. */
function toURL(host: string): string {
  if (host.includes('://')) return host.replace('://0.0.0.0', '://127.0.0.1');
  const parts = /^(\[[^\]]*\]|[^:/]*)(:\d+)?(\/.*)?$/.exec(host);
  // Not read by any rule: the check of addresses says what is wrong with it.
  if (parts === null) return `http://${host}`;
  const [, name = '', port = `:${defaultPort}`, path = ''] = parts;
  // A server listens on 0.0.0.0; a client cannot connect there on every system.
  const target = name === '' || name === '0.0.0.0' ? '127.0.0.1' : name;
  return `http://${target}${port}${path}`;
}
