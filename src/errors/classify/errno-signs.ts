import type { Phase } from '../failure.ts';
import type { Sign } from './verdict.ts';

/** What a system's or a client's error code says about a connection, and how far it had come. */
export interface ErrnoSign extends Sign {
  readonly phase: Phase;
}

const connect = { code: 'NETWORK_ERROR', phase: 'connect' } as const;
const lost = { code: 'NETWORK_ERROR', phase: 'headers' } as const;
/** This machine has run out of something for a moment; nothing was sent. */
const shortage = { code: 'NETWORK_ERROR', phase: 'connect', retryable: true } as const;
const untrusted = { code: 'NETWORK_ERROR', phase: 'connect', retryable: false } as const;

const signs: Readonly<Record<string, ErrnoSign>> = {
  ECONNREFUSED: connect,
  ENOTFOUND: connect,
  EAI_AGAIN: connect,
  EAI_FAIL: connect,
  EAI_NODATA: connect,
  EHOSTUNREACH: connect,
  EHOSTDOWN: connect,
  ENETUNREACH: connect,
  ENETDOWN: connect,
  EADDRNOTAVAIL: shortage,
  EADDRINUSE: connect,
  EPROTO: connect,
  ENOBUFS: shortage,
  EMFILE: shortage,
  ENFILE: shortage,
  EAGAIN: shortage,
  EWOULDBLOCK: shortage,
  ENOMEM: shortage,
  EAI_MEMORY: shortage,
  ECONNRESET: lost,
  ECONNABORTED: lost,
  EPIPE: lost,
  ENOTCONN: lost,
  ERR_STREAM_PREMATURE_CLOSE: { code: 'STREAM_INTERRUPTED', phase: 'body' },
  ERR_NETWORK: lost,
  ERR_SOCKET_CLOSED: lost,
  ERR_SOCKET_CONNECTION_TIMEOUT: { code: 'TIMEOUT', phase: 'connect' },
  ERR_HTTP2_STREAM_ERROR: lost,
  ERR_HTTP2_SESSION_ERROR: lost,
  ERR_HTTP2_GOAWAY_SESSION: lost,
  ERR_INVALID_URL: { code: 'INVALID_REQUEST', phase: 'connect' },
  ERR_INVALID_PROTOCOL: { code: 'INVALID_REQUEST', phase: 'connect' },
  ERR_INVALID_CHAR: { code: 'INVALID_REQUEST', phase: 'connect' },
  UND_ERR_SOCKET: lost,
  UND_ERR_CLOSED: lost,
  UND_ERR_DESTROYED: lost,
  UND_ERR_CONNECT_TIMEOUT: { code: 'TIMEOUT', phase: 'connect' },
  UND_ERR_HEADERS_TIMEOUT: { code: 'TIMEOUT', phase: 'headers' },
  UND_ERR_BODY_TIMEOUT: { code: 'TIMEOUT', phase: 'body' },
  UND_ERR_HEADERS_OVERFLOW: { code: 'INVALID_RESPONSE', phase: 'headers' },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { code: 'STREAM_INTERRUPTED', phase: 'body' },
  UND_ERR_RES_EXCEEDED_MAX_SIZE: { code: 'INVALID_RESPONSE', phase: 'body' },
  Z_DATA_ERROR: { code: 'INVALID_RESPONSE', phase: 'body' },
  Z_BUF_ERROR: { code: 'STREAM_INTERRUPTED', phase: 'body' },
  ERR_CONTENT_DECODING_FAILED: { code: 'INVALID_RESPONSE', phase: 'body' },
  ERR_HTTP_INVALID_STATUS_CODE: { code: 'INVALID_RESPONSE', phase: 'headers' },
  UND_ERR_PRX_TLS: untrusted,
  UND_ERR_INVALID_ARG: { code: 'INVALID_REQUEST', phase: 'connect' },
  ETIMEDOUT: { code: 'TIMEOUT', phase: 'connect' },
  ERR_TLS_HANDSHAKE_TIMEOUT: { code: 'TIMEOUT', phase: 'connect' },
  ESOCKETTIMEDOUT: { code: 'TIMEOUT', phase: 'headers' },
  UND_ERR_ABORTED: { code: 'CANCELLED', phase: 'headers' },
  ABORT_ERR: { code: 'CANCELLED', phase: 'headers' },
  ERR_CANCELED: { code: 'CANCELLED', phase: 'headers' },
  ERR_ABORTED: { code: 'CANCELLED', phase: 'headers' },
};

/** Whether the code says that this machine, not the other side, has run out of something. */
export function isShortage(errno: string): boolean {
  return Object.hasOwn(signs, errno) && signs[errno] === shortage;
}

/** The sign of one code. Trust failures of TLS are never retryable; whatever a parser of HTTP says is a bad answer. */
export function signOfErrno(errno: string): ErrnoSign | undefined {
  if (Object.hasOwn(signs, errno)) return signs[errno];
  if (isTrustFailure(errno)) return untrusted;
  if (errno.startsWith('HPE_')) return { code: 'INVALID_RESPONSE', phase: 'parse' };
  return undefined;
}

// A handshake that was refused for what it offered or showed does not come out otherwise by waiting.
const trustFailures =
  /^(?:CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|INVALID_CA$|INVALID_PURPOSE$|HOSTNAME_MISMATCH$|PATH_LENGTH_EXCEEDED$)/;

function isTrustFailure(errno: string): boolean {
  return trustFailures.test(errno);
}
