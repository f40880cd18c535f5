import module, { isBuiltin } from 'node:module';
import path from 'node:path';
import { readText } from '../../errors/classify/safe-read.ts';
import { isInside } from './real-paths.ts';

const loadName = '_load';
const resolveName = '_resolveFilename';

/** As much of Node's loader as is needed. Both functions are what every `require` goes through, however it was made. */
interface Loader {
  [loadName]: (request: string, parent: unknown, ...rest: readonly unknown[]) => unknown;
  [resolveName]: (request: string, parent: unknown, ...rest: readonly unknown[]) => string;
}

/** Folders of configurations that were loaded here, with the packages that each may require: all where none were hashed. */
const guarded = new Map<string, readonly string[] | undefined>();

/**
 * Refuses `require` of files that are not part of an installed package, from now on: what is imported was hashed when the
 * configuration was trusted and is run from memory, and what is required would be read from the disk as it is by then. A
 * configuration, and every package that was hashed with it, may require packages that were hashed with it.
 */
export function guardRequire(folder: string, hashedPackages?: readonly string[]): void {
  if (guarded.size === 0) wrap(module as unknown as Loader); // Its types leave these two out.
  guarded.set(folder, hashedPackages);
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
  if (file === undefined) return;
  const by = readText(parent, 'filename') ?? '';
  if (isInstalled(file) && !isUnhashedPackage(file, by)) return;
  const hint =
    isInstalled(file) && isInstalled(by)
      ? 'it is no dependency of the package that requires it, so import it in this file as well'
      : 'import it by a plain text such as "./tools.mjs" instead of requiring it';
  throw new Error(`"${request}" was not looked at when this file was read: ${hint}`);
}

const inModules = `${path.sep}node_modules${path.sep}`;
const isInstalled = (file: string): boolean => file.includes(inModules);

/** Packages that were not hashed require each other: what counts is what a configuration and its packages require. */
function isUnhashedPackage(file: string, by: string): boolean {
  return [...guarded].some(([folder, packages]) => {
    if (packages === undefined) return false;
    const isGuarded = isInstalled(by) ? isAmong(by, packages) : isInside(by, folder);
    return isGuarded && !isAmong(file, packages);
  });
}

/** Packages inside a package have hashes of their own. */
function isAmong(file: string, packages: readonly string[]): boolean {
  return packages.some((folder) => isInside(file, folder) && !file.slice(folder.length).includes(inModules));
}

function resolve(loader: Loader, request: string, parent: unknown): string | undefined {
  try {
    return loader[resolveName](request, parent);
  } catch {
    return undefined; // Node says what is wrong with it.
  }
}
