import module, { isBuiltin } from 'node:module';
import path from 'node:path';
import { isInside } from './real-paths.ts';

const loadName = '_load';
const resolveName = '_resolveFilename';

/** As much of Node's loader as is needed. Both functions are what every `require` goes through, however it was made. */
interface Loader {
  [loadName]: (request: string, parent: unknown, ...rest: readonly unknown[]) => unknown;
  [resolveName]: (request: string, parent: unknown, ...rest: readonly unknown[]) => string;
}

/** Folders of configurations that were loaded here. */
const guarded = new Set<string>();

/**
 * Refuses `require` of files beside or below a configuration, from now on: what is imported was hashed when the configuration was
 * trusted and is run from memory, and what is required would be read from the disk as it is by then. Packages may be required.
 */
export function guardRequire(folder: string): void {
  if (guarded.size === 0) wrap(module as unknown as Loader); // Its types leave these two out.
  guarded.add(folder);
}

function wrap(loader: Loader): void {
  const load = loader[loadName].bind(loader);
  loader[loadName] = (request, parent, ...rest) => {
    if (!isBuiltin(request)) refuseLocal(loader, request, parent);
    return load(request, parent, ...rest);
  };
}

function refuseLocal(loader: Loader, request: string, parent: unknown): void {
  const file = resolve(loader, request, parent);
  if (file === undefined || file.includes(`${path.sep}node_modules${path.sep}`)) return;
  if (![...guarded].some((folder) => isInside(file, folder))) return;
  throw new Error(
    `"${request}" was not looked at when this file was read: import it by a plain text such as "./tools.mjs" instead of requiring it`,
  );
}

function resolve(loader: Loader, request: string, parent: unknown): string | undefined {
  try {
    return loader[resolveName](request, parent);
  } catch {
    return undefined; // Node says what is wrong with it.
  }
}
