import { configError } from './config-error.ts';

/** What is known about the address of a provider. */
export interface AddressRule {
  readonly provider: string;
  /** What the message calls it: the option, or the variable it was read from. */
  readonly place: string;
  /** Where a bare origin means the version below it: `/v1`. */
  readonly versionPath?: string | undefined;
  /** Every path without a version at its end means the version below it. */
  readonly isVersionMissed?: boolean | undefined;
  /** Whether a key will be sent there. */
  readonly hasKey: boolean;
  /** Allows a key to travel unencrypted over the public network. */
  readonly allowInsecure: boolean;
  /** It stands where no further option can be written beside it, so that none is advised: on a command line, in a variable. */
  readonly isAlone?: true;
}

/**
 * The base URL to put paths below, without a slash at its end. What can only mean one thing is mended; everything else throws
 * a `CONFIG_ERROR` whose one sentence names the cause and the next step.
 */
export function readBaseURL(given: string, rule: AddressRule): string {
  const url = parse(given, rule);
  const fault = findFault(url, rule);
  if (fault !== undefined) throw configError(`${rule.place} of ${rule.provider} ${fault}`);
  const path = url.pathname.replace(/\/+$/, '');
  const isMissed = path === '' || (rule.isVersionMissed === true && !/\/v\d\w*$/.test(path));
  return url.origin + path + (isMissed ? (rule.versionPath ?? '') : '');
}

function parse(given: unknown, { provider, place }: AddressRule): URL {
  const subject = `${place} of ${provider}`;
  const example = '"https://host/v1"';
  if (typeof given !== 'string') {
    throw configError(`${subject} must be a text such as ${example}, got ${nameOfType(given)}`);
  }
  const text = given.trim();
  if (text === '') throw configError(`${subject} is empty: hand in an address such as ${example}`);
  if (/\s/.test(text)) throw configError(`${subject} has a space in it: remove it`);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    throw configError(
      `${subject} has no "https://" or "http://" in front: write it as in ${completed(text) ?? example}`,
    );
  }
  if (scheme !== 'http' && scheme !== 'https') {
    throw configError(
      `${subject} begins with "${scheme}://", which no provider speaks: write "https://" instead`,
    );
  }
  if (!URL.canParse(text)) {
    throw configError(`${subject} is not an address: write it as in ${example}`);
  }
  return new URL(text);
}

/** The address with the scheme that was forgotten. Nothing is quoted that may hold a key. */
function completed(text: string): string | undefined {
  const host =
    /^((?:[\w-]+\.)+[a-z]{2,24}|\d+(?:\.\d+){3}|[\w-]+(?=:\d)|localhost)(?::\d+)?(?:\/[\w./-]*)?$/.exec(
      text,
    )?.[1];
  if (host === undefined) return undefined;
  const whole = `${isPrivateHost(host) ? 'http' : 'https'}://${text}`;
  return URL.canParse(whole) ? `"${whole}"` : undefined;
}

function nameOfType(value: unknown): string {
  if (value === null) return 'null';
  return value instanceof URL ? 'a URL object (its "href" is one)' : typeof value;
}

/** Ends of paths that Rerail puts below the base URL itself. */
const endpoints =
  /\/(?:chat\/completions|completions|responses|messages|embeddings|models(?:\/[^/]+:\w+)?|api\/(?:chat|generate|embed))\/?$/;

function findFault(url: URL, rule: AddressRule): string | undefined {
  const { versionPath, hasKey, allowInsecure, isAlone = false } = rule;
  // Neither these nor a query is quoted: both are places where people keep keys.
  if (url.username !== '' || url.password !== '') {
    const instead = isAlone
      ? 'set the key in the environment'
      : 'hand the key in as "apiKey" or in "headers"';
    return `has a user name or password in it: remove them and ${instead}`;
  }
  if (url.search !== '' || url.hash !== '') {
    return `has a "${url.search === '' ? '#' : '?'}" in it: end it before that character`;
  }
  const handIn = isAlone ? 'write' : 'hand in';
  const endpoint = endpoints.exec(url.pathname)?.[0];
  if (endpoint !== undefined) {
    const base = url.origin + url.pathname.slice(0, -endpoint.length);
    return `ends in "${endpoint}", which Rerail adds itself: ${handIn} "${base}"`;
  }
  const doubled = /((?:\/v\d\w*))\1\/*$/.exec(url.pathname);
  if (doubled !== null) {
    const base = url.origin + url.pathname.slice(0, doubled.index) + (doubled[1] ?? '');
    return `has its version twice at the end: ${handIn} "${base}"`;
  }
  if (/\/v\d\w*\/v\d\w*\/*$/.test(url.pathname)) {
    return `ends in two versions: keep the one that the provider names${versionPath === undefined ? '' : `, here "${versionPath}"`}`;
  }
  if (url.protocol === 'http:' && hasKey && !allowInsecure && !isPrivateHost(url.hostname)) {
    const danger = 'begins with "http://", which would send the key unencrypted over the public network';
    return `${danger}: write "https://"${isAlone ? '' : ', or set "allowInsecure" if that is meant'}`;
  }
  return undefined;
}

/** A host of this machine or of the network it stands in: local servers speak plain HTTP, and rightly so. */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (/^(?:::1|f[cd][0-9a-f]{2}:.*|fe80:.*)$/.test(host)) return true;
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) {
    return /^(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|0\.0\.0\.0$)/.test(
      host,
    );
  }
  // A name without a dot is one of a container network or of /etc/hosts.
  if (!host.includes('.') && !host.includes(':')) return true;
  return /\.(?:localhost|local|internal|lan|home\.arpa|svc|test|cluster\.local)$/.test(host);
}
