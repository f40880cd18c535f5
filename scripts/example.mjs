// Runs an example on every Node that is supported, also where Node does not understand TypeScript: `npm run example -- restate`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';

const [name = '', ...given] = process.argv.slice(2);
const entry = [`examples/${name}.ts`, `examples/${name}/main.ts`].find((file) => existsSync(file));
if (name === '' || entry === undefined) {
  const names = readdirSync('examples').map((file) => path.basename(file, '.ts'));
  console.error(
    `${name === '' ? 'Which example?' : `There is no example "${name}".`} There are: ${names.join(', ')}`,
  );
  process.exitCode = 2;
} else {
  process.exitCode = await run(entry);
}

/** @param {string} file */
async function run(file) {
  // Inside of the project and not below `node_modules`, so that it finds the package by its own name.
  const folder = mkdtempSync(path.resolve('dist/example-'));
  try {
    const bundler = await rolldown({
      input: { program: path.resolve(file) },
      external: (id) => !id.startsWith('.') && !path.isAbsolute(id),
      platform: 'node',
      transform: { target: 'es2023' },
      checks: { bundlerTimings: false },
    });
    await bundler.write({ dir: folder, format: 'esm', entryFileNames: '[name].js', codeSplitting: false });
    await bundler.close();
    const { status } = spawnSync(process.execPath, [path.join(folder, 'program.js'), ...given], {
      stdio: 'inherit',
    });
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
