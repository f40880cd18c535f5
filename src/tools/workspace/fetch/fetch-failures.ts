import { causesOf } from '../../../errors/classify/causes.ts';
import type { FailureCode } from '../../../errors/codes.ts';
import { RerailError } from '../../../errors/rerail-error.ts';
import { showUrl } from './fetch-target.ts';
import type { FetchTarget } from './fetch-target.ts';
import { workspaceError } from '../workspace-error.ts';

/** A name that could not be resolved, or that stands for nothing. */
export function failureOfResolving(error: unknown, { host }: FetchTarget): RerailError {
  const code = codeOf(error);
  const isAbsent = error === undefined || code === 'ENOTFOUND' || code === 'ENODATA';
  if (isAbsent) {
    return workspaceError('NOT_FOUND', `Cannot fetch from "${host}": there is no host by that name`, {
      hint: 'Check the spelling of the address.',
    });
  }
  const says = `its name could not be looked up (${code ?? 'unknown error'})`;
  return workspaceError('NETWORK_ERROR', `Cannot fetch from "${host}": ${says}`, {
    phase: 'connect',
    causes: causesOf(error),
  });
}

/** Whatever the connection or the other side did, in words. What is a failure already stays as it is. */
export function failureOfNetwork(error: unknown, { host, port }: FetchTarget): RerailError {
  if (RerailError.isInstance(error)) return error;
  const name = codeOf(error) ?? '';
  const known = networkErrors.find(({ pattern }) => pattern.test(name));
  const says = known?.says ?? `the connection failed (${name === '' ? messageOf(error) : name})`;
  const { code = 'NETWORK_ERROR', retryable, hint } = known ?? {};
  return workspaceError(code, `Cannot fetch from "${host}" (port ${port}): ${says}`, {
    ...(retryable === undefined ? {} : { retryable }),
    ...(hint === undefined ? {} : { hint }),
    causes: causesOf(error),
  });
}

/** An answer that is no page. */
export function failureOfStatus(
  { url }: FetchTarget,
  { status, retryAfterMs }: { readonly status: number; readonly retryAfterMs: number | undefined },
): RerailError {
  const { code, says, hint } = statusFailures.find(({ fits }) => fits(status)) ?? {
    code: 'INVALID_RESPONSE' as const,
    says: 'which is no page',
    hint: undefined,
  };
  return workspaceError(code, `Cannot fetch ${showUrl(url.href)}: the server answered ${status}, ${says}`, {
    ...(hint === undefined ? {} : { hint }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(code === 'INVALID_RESPONSE' ? { retryable: false } : {}),
    context: { status },
  });
}

/** The name that Node, its parser, OpenSSL or zlib gives to an error. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}

interface NetworkError {
  readonly pattern: RegExp;
  readonly says: string;
  readonly code?: FailureCode;
  readonly retryable?: boolean;
  readonly hint?: string;
}

const networkErrors: readonly NetworkError[] = [
  { pattern: /^ECONNREFUSED$/, says: 'nothing listens there (ECONNREFUSED)', hint: 'Check host and port.' },
  { pattern: /^ECONNRESET$/, says: 'the other side cut the connection (ECONNRESET)' },
  { pattern: /^E(HOST|NET)UNREACH$/, says: 'there is no way to that network' },
  {
    pattern: /^HPE_HEADER_OVERFLOW$/,
    says: 'the headers of the answer are longer than 16 KB',
    code: 'INVALID_RESPONSE',
    retryable: false,
  },
  {
    pattern: /^HPE_/,
    says: 'what answers there does not speak HTTP',
    code: 'INVALID_RESPONSE',
    retryable: false,
    hint: 'Check scheme and port of the address.',
  },
  {
    pattern: /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS_CERT/,
    says: 'its certificate cannot be trusted',
    retryable: false,
    hint: 'Do not go around this. Tell the user, or look for another source.',
  },
  { pattern: /^(ERR_SSL_|EPROTO)/, says: 'the TLS handshake failed', retryable: false },
];

interface StatusFailure {
  readonly fits: (status: number) => boolean;
  readonly code: FailureCode;
  readonly says: string;
  readonly hint?: string;
}

const statusFailures: readonly StatusFailure[] = [
  {
    fits: (status) => status === 404 || status === 410,
    code: 'NOT_FOUND',
    says: 'so there is no such page',
    hint: 'Check the address, or fetch a page above it and follow its links.',
  },
  {
    fits: (status) => status === 401 || status === 403 || status === 407 || status === 451,
    code: 'PERMISSION_DENIED',
    says: 'so it does not let us see the page',
    hint: 'The page needs a login or refuses programs. Look for another source.',
  },
  { fits: (status) => status === 429, code: 'RATE_LIMITED', says: 'so it wants fewer requests' },
  { fits: (status) => status >= 500, code: 'SERVER_ERROR', says: 'so it is in trouble itself' },
];
