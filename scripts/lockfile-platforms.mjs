/**
 * @typedef {{
 *   readonly version?: string,
 *   readonly dev?: boolean,
 *   readonly optionalDependencies?: Readonly<Record<string, string>>,
 * }} Dependent
 * @typedef {Readonly<Record<string, Dependent>>} Packages
 * @typedef {{ readonly name: string, readonly version: string, readonly path: string, readonly isDev: boolean }} Missing
 */

/**
 * Finds optional packages that the lockfile leaves out. npm leaves out what the registry it asked did not have, such
 * as the binary for another platform; `npm ci` then rejects that very lockfile as out of step.
 *
 * @param {Packages} packages
 * @returns {readonly Missing[]}
 */
export function findMissingPlatforms(packages) {
  const missing = Object.entries(packages).flatMap(([path, { dev = false, optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isLocked(name, { path, packages }))
      .map(([name, version]) => ({ name, version, path: `node_modules/${name}`, isDev: dev })),
  );
  return [...new Map(missing.map((entry) => [entry.path, entry])).values()];
}

/**
 * The entry npm would have written, as far as it follows from the name: `@x/binding-linux-arm64-musl` says for which
 * system it is, and without that npm would try to install it everywhere.
 *
 * @param {Missing} missing
 * @returns {Readonly<Record<string, unknown>>}
 */
export function describePlatform({ name, version, isDev }) {
  const os = /android|darwin|freebsd|linux|openharmony|win32/.exec(name)?.[0];
  const cpu = /arm64|arm|ia32|ppc64|riscv64|s390x|wasm32|x64/.exec(name)?.[0];
  const libc = readLibc(name);
  if (cpu === undefined || !/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(
      `Cannot complete package-lock.json: ${name}@${version} does not say version and platform`,
    );
  }
  return {
    version,
    cpu: [cpu],
    ...(isDev ? { dev: true } : {}),
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    ...(os === undefined ? {} : { os: [os] }),
  };
}

/** @param {string} name */
function readLibc(name) {
  if (!name.includes('linux')) return undefined;
  if (name.includes('musl')) return 'musl';
  return name.includes('gnu') ? 'glibc' : undefined;
}

/**
 * @param {string} name
 * @param {{ readonly path: string, readonly packages: Packages }} dependent
 */
function isLocked(name, { path, packages }) {
  return `${path}/node_modules/${name}` in packages || `node_modules/${name}` in packages;
}
