import os from 'node:os';
import path from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

/**
 * Storms, engines, servers, long simulations, sandboxes and whole command lines: `npm run test:all` runs them too, `npm test` does
 * not, so that it ends within five minutes on two cores.
 */
const slow = [
  'test/{engines,kill,postgres,process,sandbox,sim,terminal}/**/*.test.ts',
  'test/cli/{approved-elsewhere,base-url,demo,exit-codes,hostile-clone,pipes,postgres-store,run}.test.ts',
  'test/model/{aimock-failures,sixteen-faults}.test.ts',
  'test/types/**/*.test.ts',
  'test/workspace/races.test.ts',
  'test/examples.test.ts',
  'src/storage/postgres/**/*.test.ts',
];

const config: ViteUserConfig = defineConfig({
  // Examples import the package by its name, as users do; the tests run them on the sources.
  resolve: {
    alias: [
      { find: /^rerail$/, replacement: path.resolve('src/index.ts') },
      { find: /^rerail\/(.+)$/, replacement: path.resolve('src/$1/index.ts') },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'fast', include: ['src/**/*.test.ts', 'test/**/*.test.ts'], exclude: slow },
      },
      { extends: true, test: { name: 'slow', include: slow } },
    ],
    environment: 'node',
    // Many tests wait for other processes: on two cores one worker, as it is by default, would leave a core idle.
    maxWorkers: Math.max(2, os.availableParallelism() - 1),
    // Generous, so that a loaded machine does not turn a slow test into a failing one; a hang still ends.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A test that leaves a stubbed clock or global behind must not decide about the next one.
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    // An exclusive test would silence all others; the gate must not be green then.
    allowOnly: false,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts', 'src/**/index.ts'],
      reporter: ['text-summary', 'text', 'html'],
    },
  },
});

export default config;
