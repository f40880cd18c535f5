import { existsSync } from 'node:fs';
import path from 'node:path';
import { bundleForTemporal } from '../../test/engines/temporal/bundle.ts';
import { installTemporal } from '../../test/engines/temporal/find-temporal.ts';

// Only for a checkout of this repository: the SDK as the tests have it, and the workflow made from the sources. In a program of yours
// npm install @temporalio/worker is all, and temporal({ address }).

interface Backend {
  readonly packagesFrom: string;
  readonly workflowBundle: { readonly code: string };
}

/** What a checkout needs besides an address. */
export async function findBackend(): Promise<Backend> {
  const root = repository();
  const packagesFrom =
    process.env['RERAIL_TEMPORAL_PACKAGES'] ?? installTemporal(path.join(root, 'test/engines/temporal'));
  process.chdir(root);
  const { code } = await bundleForTemporal(packagesFrom);
  return { packagesFrom, workflowBundle: { code } };
}

/** A history that was written when a run of this example was carried. */
export function historyFile(): string {
  return path.join(repository(), 'examples/temporal/history.json');
}

function repository(folder = import.meta.dirname): string {
  const isIt = existsSync(path.join(folder, 'test', 'engines', 'temporal'));
  return isIt || folder === path.dirname(folder) ? folder : repository(path.dirname(folder));
}
