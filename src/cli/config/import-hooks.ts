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
  return {
    resolve: (specifier, context, next) => {
      const isOurs = context.parentURL?.endsWith(mark) === true;
      if (!isOurs) return next(specifier, context);
      const own = Object.hasOwn(packages, specifier) ? packages[specifier] : undefined;
      if (own !== undefined) return { url: own, shortCircuit: true };
      const markOwn = (resolved: Resolved): Resolved => {
        if (Object.hasOwn(files, resolved.url)) return { ...resolved, url: resolved.url + mark };
        // Whatever it was called: "#tools" and the package's own name lead to files of the workspace as well.
        const isInstalled = /^(?:node:|file:.*\/node_modules\/)/.test(resolved.url);
        const isHashed =
          hashedPackages === undefined ||
          resolved.url.startsWith('node:') ||
          hashedPackages.some((folder) => resolved.url.startsWith(folder));
        if (isInstalled && isHashed && !/^(?:\.{0,2}\/|file:)/.test(specifier)) return resolved;
        throw new Error(
          `"${specifier}" was not looked at when this file was read: import it by a plain text such as "./tools.ts"`,
        );
      };
      const resolved = next(specifier, context);
      return 'then' in resolved ? resolved.then(markOwn) : markOwn(resolved);
    },
    load: (url, context, next) => {
      const file = url.endsWith(mark) ? files[url.slice(0, -mark.length)] : undefined;
      return file === undefined ? next(url, context) : { ...file, shortCircuit: true };
    },
  };
}
