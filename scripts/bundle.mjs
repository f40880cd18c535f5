import path from 'node:path';
import { rolldown } from 'rolldown';

/** @typedef {{ readonly exports: unknown, readonly bin: unknown }} Manifest */

/**
 * Writes the JavaScript of the package: one file per entry that package.json names, and the files that they share.
 *
 * @param {Manifest} manifest
 * @param {{ readonly folder: string }} options
 */
export async function bundle(manifest, { folder }) {
  const entries = [...entriesOf(manifest.exports), ...entriesOf(manifest.bin), ...inner];
  const bundler = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, sourceOf(entry)])),
    external: (id) => !id.startsWith('.') && !path.isAbsolute(id),
    platform: 'node',
    transform: { target: 'es2023' },
    // They depend on how busy the machine is.
    checks: { bundlerTimings: false },
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(`The bundler warns: ${message}`);
    },
  });
  try {
    await bundler.write({
      dir: folder,
      format: 'esm',
      // They are for the readers of the sources; what users need to know stands in the declarations.
      comments: false,
      entryFileNames: '[name].js',
      chunkFileNames: 'shared/[name].js',
      codeSplitting: { groups },
    });
  } finally {
    await bundler.close();
  }
}

/** Read by our own scripts and benchmarks, which look deeper than users do. */
const inner = [
  'cli/specs/commands',
  'cli/text/help-text',
  'errors/code-texts',
  'errors/codes',
  'errors/failure',
  'errors/failure-document',
  'model/trusted-calls',
  'sim/command',
];

/**
 * Everything an entry needs stands together, for loading hundreds of small modules is most of what an import costs. What
 * `rerail/errors` needs is a file of its own, and so on up to the root: whoever imports less loads less. A module stands in
 * one file only, so that all entries share its classes and registries.
 */
const groups = ['errors/index', 'model/index', 'index'].map((entry, rank, { length }) => ({
  name: entry === 'index' ? 'agent' : path.dirname(entry),
  test: (/** @type {string} */ id) => id === sourceOf(entry),
  includeDependenciesRecursively: true,
  priority: length - rank,
}));

/** @param {string} entry */
function sourceOf(entry) {
  return path.resolve('src', `${entry}.ts`);
}

/**
 * The places in `dist` of every script in a tree of conditions, without their ending.
 *
 * @param {unknown} node
 * @returns {readonly string[]}
 */
function entriesOf(node) {
  if (typeof node === 'string') return /^(?:\.\/)?dist\/(.+)\.js$/.exec(node)?.slice(1) ?? [];
  if (typeof node !== 'object' || node === null) return [];
  return Object.values(node).flatMap(entriesOf);
}
