import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../base/json.ts';
import { lazy } from '../base/lazy.ts';

/** Where the code of a process lies. */
export interface CodeOrigin {
  /** A module of Rerail. */
  readonly module: string;
  /** What the process was started with. */
  readonly entry: string | undefined;
  readonly execPath: string;
}

/** At most so many packages are looked at; Rerail with every optional one has a few hundred. */
const maxPackages = 2000;

/**
 * Files and folders whose code runs in this process, outside of every sandbox, or would be loaded by it: Rerail, what it depends on, the
 * optional packages that it loads by name, the program itself and Node. Absolute, under the names by which they are found and, where a
 * link is on the way, where that leads. Also places where nothing lies but would be found first.
 */
export function ownCode(): readonly string[] {
  return [...ownPlaces(), ...lateModules];
}

/** A file that is loaded later, by a name that is known already: it belongs to the own code from now on. */
export function noteOwnModule(file: string): void {
  // A program has as many as it has isolated tools.
  for (const place of bothNames(file)) lateModules.add(place);
}

const lateModules = new Set<string>();

const ownPlaces = lazy(() =>
  findOwnCode({
    module: fileURLToPath(import.meta.url),
    entry: process.argv[1],
    execPath: process.execPath,
  }),
);

/** The same for a process that was started in another way. */
export function findOwnCode({ module, entry, execPath }: CodeOrigin): readonly string[] {
  const root = packageOf(module);
  const places = new Set(
    [execPath, ...(entry === undefined ? [] : [path.resolve(entry)]), ...codeOf(module, root)].flatMap(
      bothNames,
    ),
  );
  const pending = root === undefined ? [] : [root];
  // Grows while it is walked.
  for (const folder of pending) {
    if (pending.length > maxPackages) break;
    for (const name of dependenciesOf(folder)) {
      const found = placesOf(name, folder);
      for (const place of found.places) places.add(place);
      if (found.real !== undefined && !pending.includes(found.real)) pending.push(found.real);
    }
  }
  return [...places];
}

/** The folder of the package that a module of ours lies in; nothing where it was bundled into another program. */
function packageOf(module: string): string | undefined {
  for (let folder = path.dirname(module); path.dirname(folder) !== folder; folder = path.dirname(folder)) {
    const { name } = readManifest(folder);
    if (name !== undefined) return name === 'rerail' ? folder : undefined;
  }
  return undefined;
}

/** Installed, the whole package. In a checkout of it the folder that the code is loaded from, since the rest is somebody's work. */
function codeOf(module: string, root: string | undefined): readonly string[] {
  if (root === undefined) return [module];
  if (path.basename(path.dirname(root)) === 'node_modules') return [root];
  const [folder = ''] = path.relative(root, module).split(path.sep);
  return [path.join(root, folder), path.join(root, 'package.json')];
}

/** Every place in which a package is looked for, up to the one where it is. */
function placesOf(
  name: string,
  folder: string,
): { readonly places: readonly string[]; readonly real: string | undefined } {
  const places: string[] = [];
  for (const modules of createRequire(path.join(folder, 'package.json')).resolve.paths(name) ?? []) {
    const place = path.join(modules, name);
    places.push(...bothNames(place));
    const real = realOf(place);
    if (real !== undefined) return { places, real };
  }
  return { places, real: undefined };
}

function dependenciesOf(folder: string): readonly string[] {
  const manifest = readManifest(folder);
  const lists = [manifest['dependencies'], manifest['optionalDependencies'], manifest['peerDependencies']];
  return lists.flatMap((list) => (isRecord(list) ? Object.keys(list) : []));
}

function readManifest(folder: string): Readonly<Record<string, unknown>> {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    return isRecord(manifest) ? manifest : {};
  } catch {
    // There is none, or none that Node could read either.
    return {};
  }
}

/** A place with no link on the way to its name, and where its name leads if it is a link. */
function bothNames(place: string): readonly string[] {
  const parent = realOf(path.dirname(place));
  const named = parent === undefined ? place : path.join(parent, path.basename(place));
  const real = realOf(place);
  return real === undefined || real === named ? [named] : [named, real];
}

function realOf(place: string): string | undefined {
  try {
    return realpathSync(place);
  } catch {
    // There is nothing of this name.
    return undefined;
  }
}
