// Fails when `npm pack` would publish a file it should not, or leave out one it should.
import { readFileSync } from 'node:fs';
import { findPackProblems } from './pack-rules.mjs';
import { run } from './run.mjs';

const packing = await run(['npm', 'pack', '--dry-run', '--json'], { timeoutMs: 60_000 });
const problems = packing.exitCode === 0 ? findProblems(packing.stdout) : [packing.output];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** @param {string} listing */
function findProblems(listing) {
  const [packed] = /** @type {readonly { readonly files: readonly { readonly path: string }[] }[]} */ (
    JSON.parse(listing)
  );
  return findPackProblems({
    files: (packed?.files ?? []).map((file) => file.path),
    manifest: /** @type {Parameters<typeof findPackProblems>[0]['manifest']} */ (
      JSON.parse(readFileSync('package.json', 'utf8'))
    ),
    readText: (file) => readFileSync(file, 'utf8'),
  });
}
