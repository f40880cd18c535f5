import { isRecord } from '../base/json.ts';
import { nearestNames } from '../base/nearest.ts';
import { configError } from '../errors/config-error.ts';

/** Throws a `ConfigError` for an option that nobody reads. */
export function checkOptionNames(where: string, options: unknown, known: readonly string[]): void {
  if (!isRecord(options))
    throw configError(`The options of ${where} must be an object such as { ${known[0] ?? 'name'}: … }`);
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const [nearest] = nearestNames(name, known);
    const advice = nearest === undefined ? `known are ${known.join(', ')}` : `did you mean "${nearest}"?`;
    throw configError(`There is no option "${name}" of ${where}: ${advice}`);
  }
}
