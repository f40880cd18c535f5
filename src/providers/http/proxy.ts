import { Buffer } from 'node:buffer';
import { faultError } from './transport-fault.ts';

/** The part of an environment that names proxies. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** A proxy that stands before a target. `name` is what people may see: host and port, never its password. */
export interface Proxy {
  readonly name: string;
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  readonly authorization: string | undefined;
}

/** The proxy that the environment asks for, as curl and most tools read it. Throws where its address makes no sense. */
export function proxyFor(target: URL, environment: ProxyEnvironment): Proxy | undefined {
  const scheme = target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = readVariable(environment, scheme);
  if (value === undefined || isExempt(target, readVariable(environment, 'NO_PROXY') ?? '')) return undefined;
  const url = parseProxy(value);
  if (url === undefined) {
    throw faultError({
      code: 'CONFIG_ERROR',
      message: `${scheme} is not the address of an HTTP proxy`,
      phase: 'connect',
      hint: `Write it as http://host:port, or as http://user:password@host:port, or remove ${scheme}.`,
    });
  }
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? defaultPort(isSecure) : Number(url.port);
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  return { name: `${url.hostname}:${port}`, isSecure, host, port, authorization: authorizationOf(url) };
}

/** Both spellings; the one in lower case wins, as with curl. */
function readVariable(environment: ProxyEnvironment, name: string): string | undefined {
  const value = (environment[name.toLowerCase()] ?? environment[name])?.trim();
  return value === '' ? undefined : value;
}

function parseProxy(value: string): URL | undefined {
  const text = /^[a-z][\w+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '' ? url : undefined;
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64')}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A bare percent sign is a part of the password.
  }
}

function isExempt(target: URL, list: string): boolean {
  const host = target.hostname.replaceAll(/[[\]]/g, '').toLowerCase();
  const port = target.port === '' ? String(defaultPort(target.protocol === 'https:')) : target.port;
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== '' && matches(entry, { host, port }));
}

function matches(entry: string, { host, port }: { readonly host: string; readonly port: string }): boolean {
  if (entry === '*') return true;
  const [, bracketed, plain = entry, wantedPort] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const name = (bracketed ?? plain).replace(/^\*?\./, '');
  return host === name || host.endsWith(`.${name}`);
}

function defaultPort(isSecure: boolean): number {
  return isSecure ? 443 : 80;
}
