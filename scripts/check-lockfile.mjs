// Fails when a dependency cannot be installed quietly on the oldest Node that package.json promises.
import { readFile } from 'node:fs/promises';
import { findLockfileProblems } from './lockfile-rules.mjs';

/** @typedef {Parameters<typeof findLockfileProblems>[0]} Lockfile */

const manifest = /** @type {Lockfile['manifest']} */ (JSON.parse(await readFile('package.json', 'utf8')));
const { packages } = /** @type {Pick<Lockfile, 'packages'>} */ (
  JSON.parse(await readFile('package-lock.json', 'utf8'))
);

const problems = findLockfileProblems({ manifest, packages });
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
