import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { bundleWorkflow } from '../../../scripts/bundle-workflow.mjs';
import { requireIn } from './find-temporal.ts';

/** The workflow as Temporal's sandbox takes it, made from the sources. */
export interface BundledWorkflow {
  /** The one file that is published. */
  readonly file: string;
  /** What `bundleWorkflowCode` makes of it. */
  readonly code: string;
}

interface WorkerPackage {
  readonly bundleWorkflowCode: (options: {
    readonly workflowsPath: string;
    readonly logger: unknown;
  }) => Promise<{ readonly code: string }>;
  readonly DefaultLogger: new (level: string) => unknown;
}

/** Bundles a workflow; what was made from the same text before is taken. */
export async function bundleForTemporal(
  folder: string,
  more: { readonly entry?: string; readonly alias?: Readonly<Record<string, string>> } = {},
): Promise<BundledWorkflow> {
  const made = mkdtempSync(path.join(folder, 'made-'));
  const fresh = path.join(made, 'workflow.mjs');
  await bundleWorkflow({ file: fresh, ...more });
  const hash = createHash('sha256').update(readFileSync(fresh)).digest('hex').slice(0, 16);
  const place = path.join(folder, 'workflows', hash);
  const [file, bundle] = [path.join(place, 'workflow.mjs'), path.join(place, 'bundle.js')];
  mkdirSync(place, { recursive: true });
  if (!existsSync(bundle)) {
    const { bundleWorkflowCode, DefaultLogger } = requireIn(folder)('@temporalio/worker') as WorkerPackage;
    const { code } = await bundleWorkflowCode({ workflowsPath: fresh, logger: new DefaultLogger('ERROR') });
    const part = path.join(made, 'bundle.js');
    writeFileSync(part, code);
    writeFileSync(file, readFileSync(fresh));
    renameSync(part, bundle);
  }
  rmSync(made, { recursive: true });
  return { file, code: readFileSync(bundle, 'utf8') };
}
