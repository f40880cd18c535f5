import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { namesAreRuns } from '../engines/names.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function openFile(): Promise<ReturnType<typeof sqlite>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rerail-names-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const store = sqlite(path.join(folder, 'runs.db'));
  cleanups.push(() => store.close());
  return store;
}

describe('a name is a run: in memory', () => {
  namesAreRuns({ make: (options) => createAgent(options) });
});

describe('a name is a run: with a store in memory', () => {
  let store: ReturnType<typeof memoryStore>;
  namesAreRuns({
    make: (options) => {
      store = memoryStore();
      return createAgent({ ...options, store });
    },
    restart: async (agent, options) => {
      await agent.close();
      return createAgent({ ...options, store });
    },
  });
});

describe('a name is a run: on SQLite', () => {
  let store: ReturnType<typeof sqlite>;
  namesAreRuns({
    make: async (options) => {
      store = await openFile();
      return createAgent({ ...options, store });
    },
    restart: async (agent, options) => {
      await agent.close();
      return createAgent({ ...options, store });
    },
  });
});
