import semver from 'semver';
import { findMissingPlatforms } from './lockfile-platforms.mjs';

/**
 * @typedef {{
 *   readonly version?: string,
 *   readonly resolved?: string,
 *   readonly hasInstallScript?: boolean,
 *   readonly engines?: { readonly node?: string } | readonly string[],
 *   readonly optionalDependencies?: Readonly<Record<string, string>>,
 * }} LockedPackage
 * @typedef {{
 *   readonly engines?: { readonly node?: string },
 *   readonly dependencies?: Readonly<Record<string, string>>,
 *   readonly devDependencies?: Readonly<Record<string, string>>,
 *   readonly allowScripts?: Readonly<Record<string, boolean>>,
 * }} Manifest
 */

/**
 * Names every package that a user of the oldest Node we support could not install, that runs code while it is
 * installed, or that ties the lockfile to one registry. Optional and platform-specific packages count as well:
 * npm warns about them on the platform that takes them.
 *
 * @param {{ readonly manifest: Manifest, readonly packages: Readonly<Record<string, LockedPackage>> }} lockfile
 * @returns {readonly string[]}
 */
export function findLockfileProblems({ manifest, packages }) {
  const oldestNode = semver.minVersion(manifest.engines?.node ?? '')?.version;
  if (manifest.engines?.node === undefined || oldestNode === undefined) {
    return ['package.json names no range of Node in "engines"'];
  }
  const locked = Object.entries(packages).filter(([path]) => path !== '');
  const { allowScripts = {} } = manifest;
  // An empty lockfile would satisfy every rule below.
  if (locked.length === 0) return ['package-lock.json lists no packages'];
  return [
    ...locked.flatMap(([path, entry]) => findPackageProblems(path, { entry, oldestNode, allowScripts })),
    ...findMissingPlatforms(packages).map(
      ({ name }) => `${name} is optional and not locked, so npm ci fails: run "npm run lock"`,
    ),
    ...Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
      .filter(([, range]) => semver.valid(range.replace(/^npm:.+@/, '')) === null)
      .map(([name, range]) => `${name} is not pinned to an exact version, but to "${range}"`),
  ];
}

/**
 * @param {string} path
 * @param {{
 *   readonly entry: LockedPackage,
 *   readonly oldestNode: string,
 *   readonly allowScripts: Readonly<Record<string, boolean>>,
 * }} options
 * @returns {readonly string[]}
 */
function findPackageProblems(path, { entry, oldestNode, allowScripts }) {
  const bareName = path.replace(/^.*node_modules\//, '');
  const name = `${bareName}@${entry.version ?? '?'}`;
  const range = readNodeRange(entry.engines);
  const problems = [];
  if (!semver.satisfies(oldestNode, range)) {
    problems.push(`${name} excludes Node ${oldestNode}: its engines say "${range}"`);
  }
  // One that npm is told not to run does not run: such a package must work without it.
  if (entry.hasInstallScript === true && allowScripts[bareName] !== false)
    problems.push(`${name} runs a script while it is installed`);
  if (entry.resolved !== undefined) problems.push(`${name} is locked to the address it came from`);
  return problems;
}

/**
 * Old packages write engines as a list: `["node >= 0.6"]`.
 *
 * @param {LockedPackage['engines']} engines
 * @returns {string}
 */
function readNodeRange(engines) {
  if (engines === undefined) return '*';
  if (!isList(engines)) return engines.node ?? '*';
  return engines.find((engine) => engine.startsWith('node'))?.replace(/^node\s*/, '') ?? '*';
}

/**
 * `Array.isArray` does not narrow a readonly array away.
 *
 * @param {Exclude<LockedPackage['engines'], undefined>} engines
 * @returns {engines is readonly string[]}
 */
function isList(engines) {
  return Array.isArray(engines);
}
