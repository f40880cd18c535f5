/** A path without what changes nothing about where it leads: `./`, doubled and trailing separators, other separators, a leading `~/`. */
export function normalPath(text: string): string {
  return text
    .replaceAll('\\', '/')
    .replaceAll(/\/{2,}/g, '/')
    .replaceAll(/(?<=^|\/)(?:\.\/)+/g, '')
    .replace(/^file:\/*(?=\/)/i, '')
    .replace(/(?<=.)\/$/, '');
}

/** The path, and of one that begins at a root everything after each of its separators: one of them begins in the workspace. */
export function pathEnds(path: string): readonly string[] {
  if (!/^(?:\/|~|[A-Za-z]:\/)/.test(path)) return [path];
  const parts = path.split('/').slice(1, maxParts);
  return [path, ...parts.map((_part, index) => parts.slice(index).join('/'))];
}

const maxParts = 200;
