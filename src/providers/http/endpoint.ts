import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

/** Where a provider is asked, and with what, as far as it is the same for every call. */
export interface Endpoint {
  readonly urlFor: (path: string) => string;
  readonly headersFor: (
    ...more: readonly (Readonly<Record<string, string>> | undefined)[]
  ) => Readonly<Record<string, string>>;
}

interface EndpointOptions {
  readonly provider: string;
  readonly baseURL: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly isStream: boolean;
}

/** Reads the address once. Throws a `CONFIG_ERROR` where nothing could ever be sent to it. */
export function createEndpoint({ baseURL, headers, query, ...options }: EndpointOptions): Endpoint {
  const base = parseBase(baseURL, options.provider);
  const prefix = `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
  const search = new URLSearchParams([...base.searchParams, ...Object.entries(query)]).toString();
  const fixed = toLowerCase({
    accept: options.isStream ? 'text/event-stream, application/json' : 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'user-agent': 'rerail',
    ...toLowerCase(headers),
  });
  let last = { path: '', url: '' };
  return {
    urlFor: (path) => {
      // A model asks the same address every time.
      if (last.url === '' || last.path !== path) last = { path, url: joinUrl(prefix, path, search) };
      return last.url;
    },
    headersFor: (...more) => {
      if (more.every((headersOfCall) => headersOfCall === undefined)) return fixed;
      return more.reduce<Record<string, string>>(
        (all, next = {}) => ({ ...all, ...toLowerCase(next) }),
        fixed,
      );
    },
  };
}

function joinUrl(prefix: string, path: string, search: string): string {
  const url = `${prefix}${path.startsWith('/') ? path : `/${path}`}`;
  if (search === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${search}`;
}

/** One name, one header: two spellings would be sent as two. */
function toLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function parseBase(baseURL: string, provider: string): URL {
  const refuse = (reason: string): RerailError =>
    RerailError.from(
      createFailure('CONFIG_ERROR', {
        origin: 'config',
        message: `The base URL of ${provider} ${reason}`,
        hint: 'Write it in full, for example https://api.example.com/v1.',
        context: { field: 'baseURL' },
      }),
    );
  if (!URL.canParse(baseURL)) throw refuse(`is not an address: "${baseURL}"`);
  const url = new URL(baseURL);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refuse(`must begin with http:// or https://, got "${url.protocol}"`);
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('holds a user or a password: hand credentials over as a key or a header');
  }
  return url;
}
