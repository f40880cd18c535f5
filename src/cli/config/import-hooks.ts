import module from 'node:module';
import { readProperty } from '../../errors/classify/safe-read.ts';

/** What Node is to take for a configuration, instead of looking for it. Plain data: it goes to another thread. */
export interface HookedFiles {
  /** Ends the addresses of exactly these files, so that no other import is touched. */
  readonly mark: string;
  /** What was read, by address without the mark. */
  readonly files: Readonly<Record<string, { readonly format: string; readonly source: string }>>;
  /** Addresses of our own modules, by the name in an import. */
  readonly packages: Readonly<Record<string, string>>;
  /** Addresses of the folders of packages that were hashed, each with a slash at its end; `undefined` allows every installed package. */
  readonly hashedPackages?: readonly string[] | undefined;
}

/** Hands texts to Node's loader: under the marked address the text that was read is run, and never the file again. */
export function hookFiles(held: HookedFiles): void {
  const registerHooks: unknown = readProperty(module, 'registerHooks');
  if (typeof registerHooks === 'function') {
    (registerHooks as (hooks: Hooks) => unknown)(createHooks(held));
    return;
  }
  const program = [
    // Node loads a text once: without this, the hooks of an earlier configuration would be replaced by these.
    `// ${held.mark}`,
    'let hooks;',
    `export function initialize(held) { hooks = (${createHooks.toString()})(held); }`,
    'export const resolve = (...given) => hooks.resolve(...given);',
    'export const load = (...given) => hooks.load(...given);',
  ];
  module.register(`data:text/javascript,${encodeURIComponent(program.join('\n'))}`, { data: held });
}

interface Resolved {
  readonly url: string;
  readonly shortCircuit?: boolean;
}

interface Hooks {
  readonly resolve: (
    specifier: string,
    context: { readonly parentURL?: string | undefined },
    next: (specifier: string, context: object) => Resolved | Promise<Resolved>,
  ) => Resolved | Promise<Resolved>;
  readonly load: (url: string, context: object, next: (url: string, context: object) => unknown) => unknown;
}

/** Its text is sent to another thread, so it uses nothing from outside itself. In the newer Node `next` gives no promise. */
function createHooks({ mark, files, packages, hashedPackages }: HookedFiles): Hooks {
  // Packages inside a package have hashes of their own.
  const isHashed = (url: string): boolean =>
    hashedPackages === undefined ||
    hashedPackages.some(
      (folder) => url.startsWith(folder) && !url.includes('/node_modules/', folder.length - 1),
    );
  const checkOwn = (specifier: string, resolved: Resolved): Resolved => {
    const { url } = resolved;
    if (Object.hasOwn(files, url)) return { ...resolved, url: url + mark };
    // Whatever it was called: "#tools" and the package's own name lead to files of the workspace as well.
    const isInstalled = url.startsWith('node:') || (/^file:.*\/node_modules\//.test(url) && isHashed(url));
    if (isInstalled && !/^(?:\.{0,2}\/|file:)/.test(specifier)) return resolved;
    throw new Error(
      `"${specifier}" was not looked at when this file was read: import it by a plain text such as "./tools.ts"`,
    );
  };
  const checkPackage = (specifier: string, resolved: Resolved): Resolved => {
    if (/^(?:node|data):/.test(resolved.url) || isHashed(resolved.url)) return resolved;
    throw new Error(
      `"${specifier}" is no dependency of the package that imports it, so it was not looked at: import it in this file as well`,
    );
  };
  return {
    resolve: (specifier, context, next) => {
      const { parentURL = '' } = context;
      const isOurs = parentURL.endsWith(mark);
      if (!isOurs && (hashedPackages === undefined || !isHashed(parentURL))) return next(specifier, context);
      const own = isOurs && Object.hasOwn(packages, specifier) ? packages[specifier] : undefined;
      if (own !== undefined) return { url: own, shortCircuit: true };
      const check = isOurs ? checkOwn : checkPackage;
      const resolved = next(specifier, context);
      return 'then' in resolved
        ? resolved.then((value) => check(specifier, value))
        : check(specifier, resolved);
    },
    load: (url, context, next) => {
      const file = url.endsWith(mark) ? files[url.slice(0, -mark.length)] : undefined;
      return file === undefined ? next(url, context) : { ...file, shortCircuit: true };
    },
  };
}
