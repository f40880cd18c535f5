import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    environment: 'node',
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
