import type { Module } from './module.ts';
import type { Problem } from './problem.ts';

const core = ['base', 'errors', 'model'] as const;
const belowRuntime = [...core, 'resilience', 'agent', 'context'] as const;

interface Layer {
  readonly mayImport: readonly string[] | 'everything';
  readonly mayImportTypesOf?: readonly string[];
  /** Layers from which its index, the public entry, may list names besides: no source may import an index. */
  readonly mayReExport?: readonly string[];
}

/** The layer table of the house style. A layer may always import itself. */
export const layers: Readonly<Record<string, Layer>> = {
  base: { mayImport: [] },
  errors: { mayImport: ['base'] },
  model: { mayImport: ['base', 'errors'], mayReExport: ['resilience', 'runtime', 'providers', 'interop'] },
  resilience: { mayImport: ['base', 'errors'] },
  agent: { mayImport: [...core, 'resilience'] },
  context: { mayImport: core },
  providers: { mayImport: core, mayReExport: ['interop'] },
  tools: { mayImport: core },
  storage: { mayImport: core, mayImportTypesOf: ['agent'] },
  telemetry: { mayImport: core, mayImportTypesOf: ['agent'] },
  runtime: { mayImport: belowRuntime },
  // The machine for those who drive a run themselves.
  machine: { mayImport: [...belowRuntime, 'runtime'] },
  flow: { mayImport: [...belowRuntime, 'runtime'] },
  engines: { mayImport: [...belowRuntime, 'runtime'] },
  mcp: { mayImport: [...belowRuntime, 'runtime'] },
  // Rerail offered to other frameworks: needs the runtime and the edge that speaks to them.
  interop: { mayImport: [...belowRuntime, 'providers', 'runtime'] },
  cli: { mayImport: 'everything' },
  inspector: { mayImport: 'everything' },
  chaos: { mayImport: 'everything' },
  sim: { mayImport: 'everything' },
  testing: { mayImport: 'everything' },
};

/** A test beside its source may also use what exists to test with. */
const mayBeImportedByTests = ['testing', 'chaos', 'sim'];

/** The layer a path lies in: the folder under `src`, `root` for a file directly in it, nothing outside `src`. */
export function layerOf(path: string): string | undefined {
  const [top, folder, ...rest] = path.split('/');
  if (top !== 'src' || folder === undefined) return undefined;
  return rest.length === 0 ? 'root' : folder;
}

/** Finds imports that cross the layer table, and files the table does not know. */
export function findLayerProblems(module: Module): readonly Problem[] {
  const from = layerOf(module.path);
  if (from === undefined) return [];
  if (from === 'root') return findStrayRootFile(module);
  const layer = layers[from];
  if (layer === undefined) {
    return [{ rule: 'layer', path: module.path, line: 1, message: `"${from}" is not in the layer table` }];
  }
  return module.imports.flatMap((found) => {
    if (found.target === undefined) return [];
    const to = layerOf(found.target);
    if (to === from || isAllowed(layer, { to, isTypeOnly: found.isTypeOnly, isTest: module.isTest }))
      return [];
    if (isEntry(module.path) && to !== undefined && (layer.mayReExport ?? []).includes(to)) return [];
    const message = `"${from}" must not import "${to ?? found.target}" (${found.specifier})`;
    return [{ rule: 'layer', path: module.path, line: found.line, message }];
  });
}

function isEntry(path: string): boolean {
  return path.endsWith('/index.ts');
}

/** Only the public entry stands outside the layers, for it may name everything. */
function findStrayRootFile(module: Module): readonly Problem[] {
  if (module.path === 'src/index.ts' || module.isTest) return [];
  return [{ rule: 'layer', path: module.path, line: 1, message: 'This file belongs into a layer' }];
}

interface Crossing {
  readonly to: string | undefined;
  readonly isTypeOnly: boolean;
  readonly isTest: boolean;
}

function isAllowed(layer: Layer, { to, isTypeOnly, isTest }: Crossing): boolean {
  // Shared helpers of the tests lie outside `src`; sources may not depend on them.
  if (to === undefined) return isTest;
  if (isTest && mayBeImportedByTests.includes(to)) return true;
  if (layer.mayImport === 'everything' || layer.mayImport.includes(to)) return true;
  return isTypeOnly && (layer.mayImportTypesOf?.includes(to) ?? false);
}
