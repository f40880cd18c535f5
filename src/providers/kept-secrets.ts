import { registerSecret } from '../base/redact.ts';

// Invariants: a secret is hidden for as long as something that uses it lives; one that nothing uses any more is hidden for as
// long as there is room, and the oldest of those go first, which is reported.

interface Kept {
  /** How many live objects use it; Infinity for the whole process. */
  users: number;
  readonly forget: () => void;
}

/** What a process holds besides the secrets that are in use: a late answer may still echo one of a model that is gone. */
const maxUnused = 10_000;

const kept = new Map<string, Kept>();
/** The longest unused first. */
const unused = new Set<string>();
let hasReported = false;

const users = new FinalizationRegistry<string>(leave);

/** Makes a value a secret for as long as its user lives, the function that sends it: the whole process where there is none. */
export function keepSecret(secret: string, user?: object): void {
  const known = kept.get(secret) ?? { users: 0, forget: registerSecret(secret) };
  kept.set(secret, known);
  unused.delete(secret);
  known.users += user === undefined ? Infinity : 1;
  if (user !== undefined) users.register(user, secret);
}

/**
 * Makes every key in an environment a secret, also those of providers that are not asked: a command or a tool may print them, and
 * whatever is stored, logged or shown goes through the redactor.
 */
export function keepEnvironmentKeys(environment: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || !keyName.test(name) || kept.get(value)?.users === Infinity) continue;
    keepSecret(value);
  }
}

/** Variables that hold a key, by their names: those of our providers, and of services that we have no provider for. */
const keyName =
  /_API_(?:KEY|TOKEN)S?$|_SECRET(?:_ACCESS)?(?:_KEY)?$|_(?:ACCESS|AUTH|SESSION)_TOKEN$|^(?:GITHUB|GH|HF|NPM)_TOKEN$/i;

function leave(secret: string): void {
  const known = kept.get(secret);
  if (known === undefined) return;
  known.users -= 1;
  if (known.users > 0) return;
  unused.add(secret);
  if (unused.size <= maxUnused) return;
  const [oldest = secret] = unused;
  unused.delete(oldest);
  kept.get(oldest)?.forget();
  kept.delete(oldest);
  if (hasReported) return;
  hasReported = true;
  process.emitWarning(
    `More than ${maxUnused} keys belong to models that are gone. The oldest are no longer hidden where an answer or a log repeats them`,
    { type: 'RerailWarning', code: 'RERAIL_SECRETS_FORGOTTEN' },
  );
}
