import { createRequire } from 'node:module';
import path from 'node:path';
import { installPackages } from '../install-packages.ts';

/** Where Temporal's packages are, by the lock file of a folder. */
export function installTemporal(here: string = import.meta.dirname): string {
  return installPackages('temporal', here);
}

/** What loads packages from there. */
export function requireIn(folder: string): NodeJS.Require {
  return createRequire(path.join(folder, 'package.json'));
}
