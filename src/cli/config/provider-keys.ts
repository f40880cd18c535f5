import { createModelRegistry } from '../../providers/registry.ts';

/** The variables that hold the keys of all providers. */
export function keyVariables(): ReadonlySet<string> {
  const registry = createModelRegistry();
  return new Set(registry.list().flatMap((provider) => registry.describe(`${provider}:any`).keyVariables));
}
