import { createRequire } from 'node:module';

/** An optional dependency, or what to do about its absence. */
export type Peer =
  | { readonly type: 'loaded'; readonly module: unknown }
  | { readonly type: 'missing'; readonly message: string };

/** How an optional dependency is come by. */
export interface PeerOptions {
  /** The module itself, from somebody who has loaded it: needed where a bundler leaves nothing to be found at run time. */
  readonly given?: unknown;
  /** What to write to install it: `npm install @opentelemetry/api`. */
  readonly install: string;
}

const require = createRequire(import.meta.url);

/** Finds an optional dependency at the moment it is needed, and not before. Never throws: absence is an answer. */
export function loadPeer(name: string, { given, install }: PeerOptions): Peer {
  if (given !== undefined) return { type: 'loaded', module: given };
  try {
    const module: unknown = require(name);
    return { type: 'loaded', module };
  } catch (error) {
    const why = isAbsence(error, name) ? 'is not installed' : 'is installed but cannot be loaded';
    return { type: 'missing', message: `"${name}" ${why}: ${install}` };
  }
}

/** Not where something that the module itself needs is absent. */
function isAbsence(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    /NOT_FOUND/.test(String(error.code)) &&
    error.message.includes(`'${name}'`)
  );
}
