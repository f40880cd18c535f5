import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isRecord } from '../../base/json.ts';
import { defineConfig } from './define-config.ts';

/**
 * Addresses of modules that stand for `rerail` and its subpaths in a configuration: they hand on what this process has loaded
 * itself. So a configuration needs no installed package, and its tools are tools to us.
 */
export async function ownModules(texts: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const entries: [string, string][] = [];
  for (const name of namesIn(texts)) {
    const loaded = await loadOwn(name);
    if (loaded !== undefined) entries.push([name, standIn(name, loaded)]);
  }
  return Object.fromEntries(entries);
}

const maxNames = 100;

function namesIn(texts: readonly string[]): readonly string[] {
  const found = texts.flatMap((text) => [...text.matchAll(/(["'])(rerail(?:\/[\w./-]{1,100})?)\1/g)]);
  return [...new Set(found.map(([, , name = '']) => name))].slice(0, maxNames);
}

type Names = Readonly<Record<string, unknown>>;

async function loadOwn(name: string): Promise<Names | undefined> {
  // The helper is at hand, and the lightest configuration imports nothing else.
  if (name === 'rerail/config') return { defineConfig };
  const file = entryOf(name);
  return file === undefined
    ? undefined
    : ((await import(/* @vite-ignore */ pathToFileURL(file).href)) as Names);
}

/** The file behind a name, by the manifest of the package: in `dist` where it was built, in `src` where it was not. */
function entryOf(name: string): string | undefined {
  const root = packageRoot();
  if (root === undefined) return undefined;
  const key = name === 'rerail' ? '.' : `./${name.slice('rerail/'.length)}`;
  const condition: unknown = root.exports[key];
  const target: unknown = isRecord(condition) ? condition['default'] : undefined;
  if (typeof target !== 'string') return undefined;
  const source = import.meta.url.endsWith('.ts')
    ? target.replace(/^\.\/dist\//, './src/').replace(/\.js$/, '.ts')
    : target;
  return path.join(root.folder, source);
}

interface PackageRoot {
  readonly folder: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

const maxLevels = 10;

/** Above this very file, wherever a bundler has put it. */
function packageRoot(): PackageRoot | undefined {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level < maxLevels; level += 1) {
    const manifest = readManifest(path.join(folder, 'package.json'));
    const exports: unknown = manifest?.['name'] === 'rerail' ? manifest['exports'] : undefined;
    if (isRecord(exports)) return { folder, exports };
    folder = path.dirname(folder);
  }
  return undefined;
}

function readManifest(file: string): Names | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isRecord(manifest) ? manifest : undefined;
  } catch {
    return undefined; // None in this folder: it is looked for further up.
  }
}

const shelf = Symbol.for('rerail.config.modules');

/** A module whose text names what it exports and takes it from the shelf. */
function standIn(name: string, loaded: Names): string {
  const holder = globalThis as { [shelf]?: Map<string, Names> };
  holder[shelf] ??= new Map();
  holder[shelf].set(name, loaded);
  const names = Object.keys(loaded).filter((each) => /^[A-Za-z_$][\w$]*$/.test(each) && each !== 'default');
  const lines = [
    `const shelf = globalThis[Symbol.for('rerail.config.modules')].get(${JSON.stringify(name)});`,
    ...names.map((each) => `export const ${each} = shelf.${each};`),
  ];
  return `data:text/javascript,${encodeURIComponent(lines.join('\n'))}`;
}
