import { configError } from '../../errors/config-error.ts';
import type { PostgresAddress, PostgresOptions } from './postgres.ts';
import {
  aFlag,
  aNumber,
  anObjectWith,
  anyValue,
  checkOptions,
  oneOf,
} from '../../model/check/check-options.ts';
import type { OptionRule } from '../../model/check/check-options.ts';

const maxTimeoutMs = 3_600_000;

const optionRules: Readonly<Record<keyof PostgresOptions, OptionRule>> = {
  durability: oneOf('required', 'bestEffort'),
  // It becomes a part of every statement.
  schema: {
    isLegal: (value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(value),
    expected: 'a name of small letters, digits and "_", at most 63',
  },
  create: aFlag,
  maxConnections: {
    isLegal: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1000,
    expected: 'a whole number from 1 to 1000',
  },
  busyTimeoutMs: aNumber(0, maxTimeoutMs),
  statementTimeoutMs: aNumber(1, maxTimeoutMs),
  clock: anObjectWith('wallMs', 'a Clock, with wallMs()'),
  pg: anyValue,
};
const addressNames = ['connectionString', 'host', 'port', 'user', 'password', 'database', 'ssl'];

/** Says at once what can never work. Nothing of the address is ever part of what it says: there is a password in it. */
export function checkGiven(address: unknown, options: PostgresOptions): void {
  checkAddress(address);
  checkOptions({ of: 'postgres()', rules: optionRules }, options);
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
  checkOptions({ of: 'the address of postgres()', rules: addressNames }, address);
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

/** What the driver gets, and what must never be shown. */
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
