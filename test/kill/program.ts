import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { rolldown } from 'rolldown';

/** A program that was bundled from the sources, so that Node 20 starts it as quickly as what is published. */
export interface Program {
  readonly file: string;
  readonly remove: () => Promise<void>;
}

/** Bundles a program and everything of ours that it imports, by a path or by the name of the package. */
export async function bundleProgram(entry: string): Promise<Program> {
  // Inside of the project, so that what is not ours is found where it is installed.
  const cache = path.resolve('node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(path.join(cache, 'program-'));
  const bundler = await rolldown({
    input: { program: path.resolve(entry) },
    external: (id) => !id.startsWith('.') && !path.isAbsolute(id) && !/^rerail(?:\/|$)/.test(id),
    plugins: [{ name: 'own-name', resolveId: resolveOwn }],
    platform: 'node',
    transform: { target: 'es2023' },
    checks: { bundlerTimings: false },
  });
  try {
    await bundler.write({
      dir: folder,
      format: 'esm',
      entryFileNames: '[name].js',
      codeSplitting: false,
    });
  } finally {
    await bundler.close();
  }
  return {
    file: path.join(folder, 'program.js'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** As vitest.config.ts has it for the examples. */
function resolveOwn(id: string): string | undefined {
  const [name, ...rest] = id.split('/');
  return name === 'rerail' ? path.resolve('src', ...rest, 'index.ts') : undefined;
}
