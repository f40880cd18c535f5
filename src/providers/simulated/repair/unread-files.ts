import { isTestFile, lookThrough } from './program.ts';
import type { Scene } from './scene.ts';

const maxFiles = 8;

/** What should be read next: what the failures name, then what that imports, and that no deeper than needed. */
export function unreadFiles(scene: Scene): readonly string[] {
  const { runs, current, unreadable, listed } = scene;
  const failing = runs.find(({ report }) => report.type === 'failed')?.report.failing ?? [];
  const named = failing.flatMap(({ frames }) => frames.map(({ file }) => fromRoot(file, scene)));
  const imported = [...current].flatMap(([path, source]) => lookThrough(path, source).imports);
  const siblings = named
    .filter(isTestFile)
    .flatMap((path) => listed.filter((other) => isTested(path, other)));
  const wanted = [...new Set([...named, ...siblings, ...imported])].filter((path) =>
    /\.[cm]?[jt]sx?$/.test(path),
  );
  return wanted
    .filter((path) => !current.has(path) && !unreadable.has(path))
    .slice(0, Math.max(0, maxFiles - current.size));
}

/** Tests name files by their whole path, and tools know them from the root of the workspace. */
function fromRoot(file: string, { listed, current }: Scene): string {
  if (!file.startsWith('/')) return file;
  const known = [...listed, ...current.keys()].filter((path) => file.endsWith(`/${path}`));
  const longest = known.toSorted((one, other) => other.length - one.length)[0];
  if (longest !== undefined) return longest;
  return /\/((?:src|lib|app|tests?|spec|__tests__)\/.*)$/.exec(file)?.[1] ?? file.split('/').at(-1) ?? file;
}

/** `src/cart.js` is what `test/cart.test.js` is about. */
function isTested(test: string, other: string): boolean {
  const stem = (path: string): string =>
    (path.split('/').at(-1) ?? '').replace(/(?:[._-](?:test|spec))?\.[cm]?[jt]sx?$/, '');
  return !isTestFile(other) && /\.[cm]?[jt]sx?$/.test(other) && stem(test) === stem(other);
}
