// Table: numbers by which systems and clients name a broken connection. They are the same in every language.

/** Each family with the pattern that finds its numbers in a text, and the errno that each number means. */
interface NumberFamily {
  readonly pattern: RegExp;
  readonly errnos: Readonly<Record<string, string>>;
}

/** Linux and macOS, where they differ; `os error` is how Rust writes them. Windows has numbers of its own from 10000 on. */
const posix = {
  32: 'EPIPE',
  49: 'EADDRNOTAVAIL',
  50: 'ENETDOWN',
  51: 'ENETUNREACH',
  53: 'ECONNABORTED',
  54: 'ECONNRESET',
  57: 'ENOTCONN',
  60: 'ETIMEDOUT',
  61: 'ECONNREFUSED',
  64: 'EHOSTDOWN',
  65: 'EHOSTUNREACH',
  99: 'EADDRNOTAVAIL',
  100: 'ENETDOWN',
  101: 'ENETUNREACH',
  103: 'ECONNABORTED',
  104: 'ECONNRESET',
  107: 'ENOTCONN',
  110: 'ETIMEDOUT',
  111: 'ECONNREFUSED',
  112: 'EHOSTDOWN',
  113: 'EHOSTUNREACH',
  '-2': 'ENOTFOUND',
  '-3': 'EAI_AGAIN',
  '-5': 'EAI_NODATA',
  '8': 'ENOTFOUND', // macOS, for getaddrinfo.
  10035: 'EWOULDBLOCK',
  10048: 'EADDRINUSE',
  10049: 'EADDRNOTAVAIL',
  10050: 'ENETDOWN',
  10051: 'ENETUNREACH',
  10052: 'ECONNRESET',
  10053: 'ECONNABORTED',
  10054: 'ECONNRESET',
  10055: 'ENOBUFS',
  10057: 'ENOTCONN',
  10060: 'ETIMEDOUT',
  10061: 'ECONNREFUSED',
  10064: 'EHOSTDOWN',
  10065: 'EHOSTUNREACH',
  11001: 'ENOTFOUND',
  11002: 'EAI_AGAIN',
  11003: 'EAI_FAIL',
  11004: 'EAI_NODATA',
  12002: 'ETIMEDOUT', // WinINet and WinHTTP.
  12007: 'ENOTFOUND',
  12029: 'ECONNREFUSED',
  12030: 'ECONNRESET',
  12152: 'HPE_INVALID_CONSTANT',
  12175: 'CERT_UNTRUSTED',
} as const satisfies Readonly<Record<string, string>>;

const families: readonly NumberFamily[] = [
  {
    // `[WinError 10054]`, `[Errno 111]`, `os error 61`, `WSA error 10060`, `NSPOSIXErrorDomain Code=57`, `ConnectionResetError(10054, …`.
    pattern:
      /(?:winerror|\berrno|os error|wsa\w{0,30}(?: error)?|socket error|nsposixerrordomain[^\d-]{0,12}|\w{4,30}error\()[ :=(#]{0,3}(-?\d{1,5})\b/gi,
    errnos: posix,
  },
  {
    // A number of Winsock is telling enough to be found by itself, in brackets.
    pattern: /[([](100[3-6]\d|1100[1-4])[)\]]/g,
    errnos: posix,
  },
  {
    // `Error Domain=NSURLErrorDomain Code=-1001`, `NSURLConnection finished with error - code -1003`, `URLError(-1009)`.
    pattern: /(?:nsurl\w{0,20}|urlerror|cfnetwork\w{0,20})[^\n]{0,40}?(-\d{3,4})\b/gi,
    errnos: {
      '-999': 'ERR_CANCELED',
      '-1000': 'ERR_INVALID_URL',
      '-1001': 'ETIMEDOUT',
      '-1002': 'ERR_INVALID_URL',
      '-1003': 'ENOTFOUND',
      '-1004': 'ECONNREFUSED',
      '-1005': 'ECONNRESET',
      '-1006': 'ENOTFOUND',
      '-1009': 'ENETDOWN',
      '-1011': 'HPE_INVALID_CONSTANT',
      '-1014': 'HPE_INVALID_CONSTANT',
      '-1015': 'HPE_INVALID_CONSTANT',
      '-1016': 'HPE_INVALID_CONSTANT',
      '-1017': 'HPE_INVALID_CONSTANT',
      '-1018': 'ENETDOWN',
      '-1019': 'ENETDOWN',
      '-1020': 'ENETDOWN',
      '-1200': 'EPROTO',
      '-1201': 'CERT_HAS_EXPIRED',
      '-1202': 'CERT_UNTRUSTED',
      '-1203': 'CERT_UNTRUSTED',
      '-1204': 'CERT_NOT_YET_VALID',
      '-1205': 'CERT_REJECTED',
      '-1206': 'CERT_REJECTED',
    },
  },
  {
    // `curl: (28)`, `cURL error 28:`, `CURLE 7`.
    pattern: /\bcurle?(?: error(?: code)?)?:? ?\(?(\d{1,2})\b/gi,
    errnos: {
      3: 'ERR_INVALID_URL',
      5: 'ENOTFOUND',
      6: 'ENOTFOUND',
      7: 'ECONNREFUSED',
      16: 'ERR_HTTP2_STREAM_ERROR',
      18: 'ERR_STREAM_PREMATURE_CLOSE',
      28: 'ETIMEDOUT',
      35: 'EPROTO',
      51: 'CERT_UNTRUSTED',
      52: 'ECONNRESET',
      55: 'EPIPE',
      56: 'ECONNRESET',
      60: 'CERT_UNTRUSTED',
      61: 'ERR_CONTENT_DECODING_FAILED',
      77: 'CERT_UNTRUSTED',
      83: 'CERT_UNTRUSTED',
      92: 'ERR_STREAM_PREMATURE_CLOSE',
      97: 'ECONNREFUSED',
    },
  },
  {
    // Chromium, and with it Electron.
    pattern: /\bnet::err_(\w{3,60})/gi,
    errnos: {
      aborted: 'ERR_CANCELED',
      timed_out: 'ETIMEDOUT',
      connection_timed_out: 'ETIMEDOUT',
      ssl_handshake_timed_out: 'ETIMEDOUT',
      dns_timed_out: 'ETIMEDOUT',
      quic_protocol_error: 'ERR_HTTP2_STREAM_ERROR',
      incomplete_chunked_encoding: 'ERR_STREAM_PREMATURE_CLOSE',
      content_length_mismatch: 'ERR_STREAM_PREMATURE_CLOSE',
      incomplete_http2_response: 'ERR_STREAM_PREMATURE_CLOSE',
      invalid_chunked_encoding: 'HPE_INVALID_CHUNK_SIZE',
      empty_response: 'ECONNRESET',
      invalid_response: 'HPE_INVALID_CONSTANT',
      invalid_http_response: 'HPE_INVALID_CONSTANT',
      response_headers_truncated: 'HPE_INVALID_CONSTANT',
      content_decoding_failed: 'ERR_CONTENT_DECODING_FAILED',
      invalid_url: 'ERR_INVALID_URL',
      unknown_url_scheme: 'ERR_INVALID_URL',
      insufficient_resources: 'EMFILE',
    },
  },
];

/** The errnos behind the numbers in a text, in its order within each family. */
export function errnosByNumber(text: string): readonly string[] {
  return families.flatMap(({ pattern, errnos }) =>
    [...text.matchAll(pattern)].flatMap(([, number = '']) => {
      const key = number.toLowerCase();
      return Object.hasOwn(errnos, key) ? [errnos[key] ?? ''] : [];
    }),
  );
}

/** The names of gRPC's status numbers, which some clients write instead: `grpc_status:14`. */
const grpcNames: Readonly<Record<string, string>> = {
  1: 'CANCELLED',
  2: 'UNKNOWN_ERROR',
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  6: 'ALREADY_EXISTS',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  10: 'UNAVAILABLE', // Aborted, to be tried again.
  11: 'OUT_OF_RANGE',
  12: 'UNIMPLEMENTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  15: 'DATA_LOSS',
  16: 'UNAUTHENTICATED',
};

const grpcStatus = /\bgrpc[-_ ]?(?:status|code)(?:[-_ ]code)?["']?[:= ]{1,3}["']?(\d{1,2})\b/gi;
const grpcWord =
  /(?:\b(?:rpc error: code|statuscode|status ?code|grpc status) ?[.=:] ?["']?|\bstatus(?:runtime)?exception: |(?:^|[\s:])\d{1,2} (?=[A-Z]))(cancell?ed|invalid_?argument|deadline_?exceeded|not_?found|already_?exists|permission_?denied|resource_?exhausted|failed_?precondition|aborted|out_?of_?range|unimplemented|internal|unavailable|data_?loss|unauthenticated)\b/gi;

/** gRPC's status in a text, by number or by name. */
export function grpcStatuses(text: string): readonly string[] {
  if (!/rpc|status|\d [A-Z]/i.test(text)) return [];
  const numbered = [...text.matchAll(grpcStatus)].flatMap(([, number = '']) =>
    Object.hasOwn(grpcNames, number) ? [grpcNames[number] ?? ''] : [],
  );
  // Aborted means: to be tried again.
  const named = [...text.matchAll(grpcWord)].map(([, name = '']) =>
    /^aborted$/i.test(name) ? 'UNAVAILABLE' : name,
  );
  return [...named, ...numbered];
}
