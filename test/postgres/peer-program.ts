import { createRequire } from 'node:module';
import * as rerail from '../../src/index.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import { readGiven, say } from '../kill/say.ts';

// Says after each step whether anything of the driver is loaded, and what became of the first use of the store.

const { cache } = createRequire(import.meta.url);
const isLoaded = (): boolean => Object.keys(cache).some((file) => /[/\\]node_modules[/\\]pg[/\\]/.test(file));

say({ kind: 'imported', isLoaded: isLoaded(), names: Object.keys(rerail).length });
const { address } = readGiven() as { readonly address: string }; // Of our own test.
const store = postgres(address);
say({ kind: 'made', isLoaded: isLoaded() });
try {
  await store.open();
  say({ kind: 'opened', isLoaded: isLoaded() });
} catch (error) {
  say({
    kind: 'failed',
    isLoaded: isLoaded(),
    failure: RerailError.isInstance(error) ? error.failure : String(error),
  });
}
await store.close();
