import { isIP } from 'node:net';
import { boundText } from '../../../base/text.ts';
import { visible } from '../../../base/printable.ts';
import { configError } from '../../../errors/config-error.ts';
import { workspaceError } from '../workspace-error.ts';

/** Where one request goes. */
export interface FetchTarget {
  readonly url: URL;
  /** Without brackets and without a dot at its end: what is resolved, and what the certificate must name. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Whoever made the tool has named this host and port as one that may be reached though it is not public. */
  readonly isListed: boolean;
}

/** What may be reached besides the public internet, and what may never be. */
export interface FetchRules {
  /** Hosts with their ports, as `hostKey` writes them. */
  readonly listed: ReadonlySet<string>;
  readonly ownPorts: () => readonly number[];
}

const maxUrlCharacters = 4000;
const lowestFreePort = 1025;

/** Reads the list of hosts that may be reached though they are not public. Throws a `ConfigError` for what is no host and port. */
export function readListed(entries: readonly string[]): ReadonlySet<string> {
  return new Set(
    entries.map((entry) => {
      const [, host = '', port] = /^(\[[^\]]+\]|[^:/@\s]+):(\d{1,5})$/.exec(entry) ?? [];
      const url = `http://${host}/`;
      if (port === undefined || !URL.canParse(url) || Number(port) > 65_535) {
        throw configError(
          `Cannot make the tool "fetch": "allowPrivate" must list hosts with their ports, such as "127.0.0.1:8080", got "${entry}"`,
        );
      }
      return hostKey(hostOf(new URL(url)), Number(port));
    }),
  );
}

/** Reads an address as the model wrote it. */
export function readTarget(text: string, rules: FetchRules): FetchTarget {
  const trimmed = text.trim();
  // A URL parser drops some of these without a word, so that what a person approved is not what is fetched.
  const isClean = !/[\s\\\p{Cc}\p{Cf}]/u.test(trimmed) && trimmed.length <= maxUrlCharacters;
  if (!isClean || !URL.canParse(trimmed)) {
    throw workspaceError('VALIDATION_ERROR', `Cannot fetch ${showUrl(text)}: it is no web address`, {
      hint: 'Write it whole, such as https://example.com/page, without blanks, backslashes or line breaks.',
    });
  }
  return checkedTarget(new URL(trimmed), rules);
}

/** Reads where a page sends us instead. Only within one server: rules and people have judged the address that was asked for. */
export function readRedirect(location: string, from: FetchTarget, rules: FetchRules): FetchTarget {
  const shown = `${showUrl(from.url.href)}: it sends us on to ${showUrl(location)}`;
  if (location.length > maxUrlCharacters || !URL.canParse(location, from.url.href)) {
    throw workspaceError('INVALID_RESPONSE', `Cannot fetch ${shown}, which is no web address`, {
      retryable: false,
    });
  }
  const target = checkedTarget(new URL(location, from.url), rules);
  if (from.isSecure && !target.isSecure) {
    throw workspaceError('PERMISSION_DENIED', `Cannot fetch ${shown}, from https to unprotected http`, {
      hint: 'Fetch the https form of that address, if there is one.',
    });
  }
  if (!isSameServer(from, target)) {
    throw workspaceError('VALIDATION_ERROR', `Cannot fetch ${shown}, which is another host or port`, {
      hint: 'Call fetch with that address if it is wanted: whether it may be fetched is judged then, as for any other.',
    });
  }
  // A stranger's page must not point us at a private host that was listed for other purposes.
  return from.isListed ? target : { ...target, isListed: false };
}

/** What was allowed was this server. The same host by https counts as it, where it was asked for by http. */
function isSameServer(from: FetchTarget, to: FetchTarget): boolean {
  const isUpgrade = !from.isSecure && to.isSecure && from.port === 80 && to.port === 443;
  return from.host === to.host && (from.port === to.port || isUpgrade);
}

/** An address as a sentence quotes it. */
export function showUrl(url: string): string {
  return `"${boundText(visible(url), 300)}"`;
}

function checkedTarget(url: URL, rules: FetchRules): FetchTarget {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const scheme = visible(url.protocol.slice(0, 30));
    throw workspaceError('PERMISSION_DENIED', `Cannot fetch ${scheme} addresses: only http: and https: are`, {
      hint: 'Files of the workspace are read with read_file.',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw workspaceError(
      'PERMISSION_DENIED',
      `Cannot fetch from "${url.host}": the address holds a user name or a password`,
      { hint: 'Leave out what stands before the @. Pages that need a login cannot be fetched.' },
    );
  }
  const isSecure = url.protocol === 'https:';
  const standard = isSecure ? 443 : 80;
  const port = url.port === '' ? standard : Number(url.port);
  const host = hostOf(url);
  const isListed = rules.listed.has(hostKey(host, port));
  checkPort({ host, port, isListed }, rules);
  return { url, host, port, isSecure, isListed };
}

function checkPort(
  { host, port, isListed }: Pick<FetchTarget, 'host' | 'port' | 'isListed'>,
  rules: FetchRules,
): void {
  const isOwn = rules.ownPorts().includes(port);
  const isUsual = port === 80 || port === 443 || port >= lowestFreePort;
  if (!isOwn && (isUsual || isListed)) return;
  const why = isOwn ? 'Rerail itself listens there' : 'web servers use 80, 443 or one above 1024';
  throw workspaceError('PERMISSION_DENIED', `Cannot fetch from port ${port} of "${host}": ${why}`);
}

function hostOf({ hostname }: URL): string {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 && bare.endsWith('.') ? bare.slice(0, -1) : bare;
}

function hostKey(host: string, port: number): string {
  return `${host}:${port}`;
}
