import path from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Writes the workflow of `rerail/engines/temporal` as one file. Temporal's sandbox takes no module of Node and no closure: the file holds
 * the driver and the pure layers, and imports nothing but `@temporalio/workflow`.
 *
 * @param {{ readonly file: string, readonly entry?: string, readonly alias?: Readonly<Record<string, string>> }} options the
 *   entry and more aliases are for tests, which have workflows of their own
 */
export async function bundleWorkflow({ file, entry = 'src/engines/temporal/workflow.ts', alias = {} }) {
  const aliases = {
    'node:crypto': path.resolve('src/engines/temporal/sandbox-crypto.ts'),
    'node:async_hooks': path.resolve('src/engines/temporal/sandbox-async-hooks.ts'),
    ...alias,
  };
  const globals = path.resolve('src/engines/temporal/sandbox-globals.ts');
  const bundler = await rolldown({
    input: path.resolve(entry),
    external: (id) =>
      id === '@temporalio/workflow' || (id.startsWith('node:') && !Object.hasOwn(aliases, id)),
    // What only effects need is not called in the workflow, and falls out with the modules of Node that it needs.
    treeshake: { moduleSideEffects: false },
    resolve: { alias: aliases },
    transform: {
      target: 'es2023',
      // The sandbox has none of these.
      inject: Object.fromEntries(['structuredClone', 'atob', 'btoa'].map((name) => [name, [globals, name]])),
    },
    checks: { bundlerTimings: false },
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(`The bundler of the workflow warns: ${message}`);
    },
  });
  try {
    const { output } = await bundler.write({ file, format: 'esm', comments: false, codeSplitting: false });
    const foreign = output[0].imports.filter((name) => name !== '@temporalio/workflow');
    if (foreign.length > 0)
      throw new Error(`The workflow imports ${foreign.join(', ')}: Temporal refuses that`);
  } finally {
    await bundler.close();
  }
}
