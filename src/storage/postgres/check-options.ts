import { configError } from '../../errors/config-error.ts';
import type { PostgresAddress, PostgresOptions } from './postgres.ts';

const optionNames = [
  'durability',
  'schema',
  'create',
  'maxConnections',
  'busyTimeoutMs',
  'statementTimeoutMs',
  'clock',
  'pg',
];
const addressNames = ['connectionString', 'host', 'port', 'user', 'password', 'database', 'ssl'];
const maxTimeoutMs = 3_600_000;
const maxMaxConnections = 1000;

/** Says at once what can never work. Nothing of the address is ever part of what it says: there is a password in it. */
export function checkOptions(address: unknown, options: PostgresOptions): void {
  checkAddress(address);
  if (typeof options !== 'object' || options === null)
    throw configError('The options of postgres() must be an object');
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown !== undefined) {
    throw configError(`postgres() has no option "${unknown}": there are ${optionNames.join(', ')}`);
  }
  const { durability = 'required', schema = 'rerail', clock, maxConnections = 1 } = options;
  if (!['required', 'bestEffort'].includes(durability)) {
    throw configError(
      `"durability" of postgres() must be "required" or "bestEffort", got ${JSON.stringify(durability)}`,
    );
  }
  // It becomes a part of every statement.
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw configError(
      `"schema" of postgres() must be a name of small letters, digits and "_", at most 63, got ${JSON.stringify(schema)}`,
    );
  }
  if (!['undefined', 'boolean'].includes(typeof options.create)) {
    throw configError(`"create" of postgres() must be true or false, got ${typeof options.create}`);
  }
  if (!Number.isInteger(maxConnections) || maxConnections < 1 || maxConnections > maxMaxConnections) {
    throw configError(
      `"maxConnections" of postgres() must be 1 to ${maxMaxConnections}, got ${String(maxConnections)}`,
    );
  }
  checkTimeout('busyTimeoutMs', options.busyTimeoutMs, 0);
  checkTimeout('statementTimeoutMs', options.statementTimeoutMs, 1);
  if (clock !== undefined && typeof clock?.wallMs !== 'function') {
    throw configError('"clock" of postgres() must be a Clock, with wallMs()');
  }
}

function checkTimeout(name: string, value: number | undefined, least: number): void {
  if (value === undefined || (value >= least && value <= maxTimeoutMs)) return;
  throw configError(`"${name}" of postgres() must be ${least} to ${maxTimeoutMs}, got ${String(value)}`);
}

function checkAddress(address: unknown): void {
  if (typeof address === 'string') {
    checkText(address);
    return;
  }
  if (typeof address !== 'object' || address === null) {
    throw configError(`postgres() needs an address such as "${example}", got ${typeof address}`, {
      hint: 'Where it comes from the environment, that variable is not set.',
    });
  }
  const unknown = Object.keys(address).find((name) => !addressNames.includes(name));
  if (unknown !== undefined) {
    throw configError(`The address of postgres() has no "${unknown}": there are ${addressNames.join(', ')}`);
  }
  const { connectionString } = address as PostgresAddress; // An object, and every field of it is optional.
  if (connectionString === undefined) return;
  checkText(connectionString);
  const other = Object.keys(address).find((name) => !['connectionString', 'ssl'].includes(name));
  if (other !== undefined) {
    throw configError(
      `The address of postgres() has "${other}" beside "connectionString": give one or the other`,
    );
  }
}

// Without a password: this one would be taken for a real one, and not shown.
const example = 'postgres://user@host:5432/database';

function checkText(address: unknown): void {
  const isAddress =
    typeof address === 'string' &&
    /^postgres(?:ql)?:\/\//i.test(address) &&
    URL.canParse(address) &&
    isDecodable(new URL(address));
  if (isAddress) return;
  throw configError(`postgres() needs an address such as "${example}"; what it was given is none`, {
    hint: 'It is not shown here, for there may be a password in it. Signs such as @ : / # in a password must be written as %40 %3A %2F %23.',
  });
}

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    return [username, password, pathname].map(decodeURIComponent).length > 0;
  } catch {
    return false; // A % that begins no sign.
  }
}

/** What the driver is told, and what must never be shown. */
export function toAddress(address: string | PostgresAddress): {
  readonly config: Readonly<Record<string, unknown>>;
  readonly secret: string | undefined;
} {
  const parts = typeof address === 'string' ? { connectionString: address } : address;
  const { connectionString, ...rest } = parts;
  const own = typeof parts.password === 'string' ? parts.password : undefined;
  const secret = own ?? (connectionString === undefined ? undefined : passwordIn(new URL(connectionString)));
  return { config: { ...rest, ...(connectionString === undefined ? {} : { connectionString }) }, secret };
}

/** The driver takes it from either place. */
function passwordIn({ password, searchParams }: URL): string | undefined {
  return password === '' ? (searchParams.get('password') ?? undefined) : decodeURIComponent(password);
}

/** For people, without user and password. */
export function nameOf(address: string | PostgresAddress): string {
  const parts = typeof address === 'string' ? { connectionString: address } : address;
  const url = parts.connectionString === undefined ? undefined : new URL(parts.connectionString);
  const host = parts.host ?? (url?.hostname || url?.searchParams.get('host')) ?? 'localhost';
  const port = parts.port ?? url?.port ?? '';
  const database = parts.database ?? decodeURIComponent(url?.pathname.slice(1) ?? '');
  return `${host}${port === '' ? '' : `:${port}`}/${database}`;
}
