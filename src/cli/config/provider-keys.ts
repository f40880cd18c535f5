import { createModelRegistry } from '../../providers/registry.ts';
import { keepSecret } from '../../providers/kept-secrets.ts';

/** The variables that hold the keys of all providers. */
export function keyVariables(): ReadonlySet<string> {
  const registry = createModelRegistry();
  return new Set(registry.list().flatMap((provider) => registry.describe(`${provider}:any`).keyVariables));
}

/**
 * Makes every key in an environment a secret, also those of providers that are not asked: a command or a tool may print them, and
 * whatever is stored, logged or shown goes through the redactor.
 */
export function keepKeysSecret(env: Readonly<Record<string, string | undefined>>): void {
  const known = keyVariables();
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (known.has(name) || keyName.test(name))) keepSecret(value);
  }
}

/** Keys of services that we have no provider for. */
const keyName = /_API_(?:KEY|TOKEN)S?$/i;
