/**
 * What may stand in the published package. Everything else is an accident.
 *
 * @type {readonly RegExp[]}
 */
const allowed = [
  /^package\.json$/,
  /^README\.md$/,
  /^LICENSE$/,
  /^(?:CHANGELOG|ARCHITECTURE|CONTRIBUTING)\.md$/,
  /^dist\/.+\.(js|d\.ts|js\.map|d\.ts\.map|schema\.json)$/,
  /^docs\/.+\.(md|svg|png)$/,
];

/** @type {readonly RegExp[]} */
const forbidden = [/\.test\./, /(^|\/)(fixtures|__snapshots__)\//];

const required = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'];

/**
 * Names every problem of a package's contents, one sentence each.
 *
 * @param {{
 *   readonly files: readonly string[],
 *   readonly manifest: { readonly exports?: unknown, readonly bin?: unknown },
 *   readonly readText: (file: string) => string,
 * }} packed the paths in the package, its package.json, and how to read one of its files
 * @returns {readonly string[]}
 */
export function findPackProblems({ files, manifest, readText }) {
  const present = new Set(files);
  const targets = [...collectTargets(manifest.exports), ...collectTargets(manifest.bin)];
  const maps = files.filter((file) => file.endsWith('.map'));
  return [
    ...files
      .filter((file) => !isAllowed(file))
      .map((file) => `${file} must not be published: it is not on the allow-list of scripts/pack-rules.mjs`),
    ...required.filter((file) => !present.has(file)).map((file) => `${file} is missing`),
    ...targets
      .filter((target) => !present.has(target))
      .map((target) => `${target} is missing, but package.json names it in "exports" or "bin"`),
    ...maps.flatMap((map) =>
      findMissingSources(map, { present, text: readText(map) }).map(
        (source) => `${map} points to ${source}, which is not in the package`,
      ),
    ),
  ];
}

/** @param {string} file */
function isAllowed(file) {
  return allowed.some((pattern) => pattern.test(file)) && !forbidden.some((pattern) => pattern.test(file));
}

/**
 * Every path in a tree of conditions, without its leading `./`.
 *
 * @param {unknown} node
 * @returns {readonly string[]}
 */
function collectTargets(node) {
  if (typeof node === 'string') return [node.replace(/^\.\//, '')];
  if (typeof node !== 'object' || node === null) return [];
  return [...new Set(Object.values(node).flatMap(collectTargets))];
}

/**
 * @param {string} map
 * @param {{ readonly present: ReadonlySet<string>, readonly text: string }} options
 * @returns {readonly string[]}
 */
function findMissingSources(map, { present, text }) {
  const { sources = [] } = /** @type {{ sources?: readonly string[] }} */ (JSON.parse(text));
  return sources
    .map((source) => new URL(source, `file:///package/${map}`).pathname.replace(/^\/package\//, ''))
    .filter((source) => !present.has(source));
}
