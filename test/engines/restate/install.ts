import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { installPackages } from '../install-packages.ts';

const here = 'test/engines/restate';
/** Of this folder's packages, not of the project's. */
const sdkName = '@restatedev/restate-sdk';

/** What the tests of this engine need. Throws where it cannot be had. */
export function installRestate(): Installed {
  const folder = installPackages('restate', path.join(findRepository(import.meta.dirname), here));
  const require = createRequire(path.join(folder, 'package.json'));
  const { platform, arch } = process;
  return {
    server: require.resolve(`@restatedev/restate-server-${platform}-${arch}/bin/restate-server`),
    sdkPath: require.resolve(sdkName),
    sdk: require(sdkName) as unknown,
  };
}

/** Where things are. */
export interface Installed {
  /** The program. */
  readonly server: string;
  readonly sdkPath: string;
  readonly sdk: unknown;
}

/** Also from a program that was bundled somewhere below. */
function findRepository(below: string): string {
  if (existsSync(path.join(below, here, 'package.json'))) return below;
  if (below === path.dirname(below)) throw new Error('This works in a checkout of the repository only');
  return findRepository(path.dirname(below));
}
