import type { Sign } from './verdict.ts';

/** What an HTTP status means when nothing else speaks. */
const signs: Readonly<Record<number, Sign>> = {
  401: { code: 'AUTHENTICATION_ERROR' },
  402: { code: 'QUOTA_EXCEEDED' },
  403: { code: 'PERMISSION_DENIED' },
  404: { code: 'MODEL_NOT_FOUND' },
  407: { code: 'NETWORK_ERROR', retryable: false }, // The proxy wants credentials: nothing reached the provider.
  408: { code: 'TIMEOUT' },
  409: { code: 'SERVER_ERROR' }, // A conflict passes.
  410: { code: 'MODEL_NOT_FOUND' },
  413: { code: 'REQUEST_TOO_LARGE' },
  424: { code: 'SERVER_ERROR' },
  425: { code: 'SERVER_ERROR' }, // Too early passes.
  429: { code: 'RATE_LIMITED' },
  431: { code: 'REQUEST_TOO_LARGE' },
  451: { code: 'PERMISSION_DENIED' },
  498: { code: 'OVERLOADED' }, // Groq: flex capacity exceeded.
  499: { code: 'CANCELLED' },
  501: { code: 'INVALID_REQUEST' }, // Not implemented will not be implemented by waiting.
  504: { code: 'TIMEOUT' },
  522: { code: 'TIMEOUT' },
  524: { code: 'TIMEOUT' },
  525: { code: 'SERVER_ERROR' },
  526: { code: 'SERVER_ERROR', retryable: false }, // The certificate behind the gateway is invalid.
  529: { code: 'OVERLOADED' },
  598: { code: 'TIMEOUT' },
  599: { code: 'TIMEOUT' },
};

/** A status by itself. An unknown 4xx is a request that must change, an unknown 5xx a server that may recover. */
export function signOfStatus(status: number): Sign | undefined {
  const known = signs[status];
  if (known !== undefined) return known;
  if (status >= 400 && status < 500) return { code: 'INVALID_REQUEST' };
  if (status >= 500 && status < 600) return { code: 'SERVER_ERROR' };
  return undefined;
}
