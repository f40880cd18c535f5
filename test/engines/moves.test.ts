import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createMemoryEngine } from '../../src/engines/index.ts';
import type { CreateEngine, MemoryEngine } from '../../src/engines/index.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { describeMoves } from './moves.ts';

describeMoves('sqlite', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-moves-'));
  const store = sqlite(path.join(folder, 'runs.db'));
  return {
    place: () => ({ store }),
    close: async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});

describeMoves('memory-store', async () => {
  const store = memoryStore();
  return { place: () => ({ store }), close: () => store.close() };
});

describeMoves('memory-engine', async () => {
  let last: MemoryEngine | undefined;
  // The runs of the one before are handed over, as a server would do it.
  const engine: CreateEngine = ({ program, effects, version, clock }) => {
    const runs = last?.handOver() ?? [];
    last = createMemoryEngine({ program, effects, version, clock, isVolatile: false, runs });
    return { ...last, close: async () => undefined };
  };
  return { place: () => ({ engine }), close: async () => last?.close() };
});
