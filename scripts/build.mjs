// Builds `dist` from nothing, so that no file of an earlier build survives and gets published.
import { chmod, cp, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { bundle } from './bundle.mjs';
import { bundleWorkflow } from './bundle-workflow.mjs';
import { run } from './run.mjs';

const timeoutMs = 120_000;
const startedMs = performance.now();

await rm('dist', { recursive: true, force: true });
// The compiler checks and writes the declarations; the bundler writes the JavaScript.
const compile = ['npx', '--no-install', 'tsc', '-p', 'tsconfig.build.json', '--emitDeclarationOnly'];
const { exitCode, output } = await run(compile, { timeoutMs });
if (exitCode === 0) await finish();
else process.stderr.write(output);

if (exitCode === 0 && !process.argv.includes('--quiet')) {
  console.log(`Built dist in ${Math.round(performance.now() - startedMs)} ms`);
}
process.exitCode = exitCode;

async function finish() {
  const manifest = /** @type {import('./bundle.mjs').Manifest} */ (
    JSON.parse(await readFile('package.json', 'utf8'))
  );
  await bundle(manifest, { folder: 'dist' });
  await bundleWorkflow({ file: 'dist/engines/temporal/workflow.js' });
  await copySchemas();
  // npm sets the bit when it installs the package; in a checkout nobody else does.
  await chmod('dist/cli/main.js', 0o755);
}

/** The compiler only emits what it compiles; the JSON schemas we publish lie beside their sources. */
async function copySchemas() {
  const files = await readdir('src', { recursive: true });
  const schemas = files.filter((file) => file.endsWith('.schema.json'));
  await Promise.all(schemas.map((file) => cp(path.join('src', file), path.join('dist', file))));
}
