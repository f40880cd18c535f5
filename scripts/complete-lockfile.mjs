// Adds to package-lock.json the optional packages that npm left out. To be run after `npm install` changed it.
import { readFile, writeFile } from 'node:fs/promises';
import { describePlatform, findMissingPlatforms } from './lockfile-platforms.mjs';

const lockfile = /** @type {{ readonly packages: Parameters<typeof findMissingPlatforms>[0] }} */ (
  JSON.parse(await readFile('package-lock.json', 'utf8'))
);
const missing = findMissingPlatforms(lockfile.packages);
const added = missing.map((entry) => /** @type {const} */ ([entry.path, describePlatform(entry)]));
const packages = Object.fromEntries(
  [...Object.entries(lockfile.packages), ...added].toSorted(([one], [other]) =>
    one.localeCompare(other, 'en'),
  ),
);
if (missing.length > 0) {
  await writeFile('package-lock.json', `${JSON.stringify({ ...lockfile, packages }, null, 2)}\n`);
}
console.log(`package-lock.json: ${missing.length} optional packages added`);
