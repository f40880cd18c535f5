import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { systemClock } from '../../base/system.ts';
import { readProperty, readText } from '../../errors/classify/safe-read.ts';
import { showValue } from '../../model/check/show-value.ts';
import { runOwned, warningOwner } from '../../model/stray-errors.ts';
import type { CodeOwner } from '../../model/stray-errors.ts';
import { guardRequire } from './guard-require.ts';
import { hookFiles } from './import-hooks.ts';
import type { HookedFiles } from './import-hooks.ts';
import { ownModules } from './own-modules.ts';
import { decodeText, urlOf } from './source-graph.ts';
import type { SourceFile } from './source-graph.ts';
import { stripTypes, systemStrippers } from './strip-types.ts';
import type { TypeStrippers } from './strip-types.ts';

/** What a configuration in TypeScript or JavaScript exports, or what is wrong with it. */
export type ImportedConfig =
  | { readonly type: 'imported'; readonly value: unknown }
  | { readonly type: 'broken'; readonly path: string; readonly line?: number; readonly text: string };

export interface ImportOptions {
  readonly clock?: Clock;
  readonly strippers?: TypeStrippers;
  /** Folders that a download may have filled: nothing in them is loaded to read a configuration, besides the configuration. */
  readonly grounds?: readonly string[];
  /** Folders of packages that were hashed: no other package is loaded. Without it every installed one is. */
  readonly hashedPackages?: readonly string[];
}

const maxImportMs = 5000;

/**
 * Runs the files that were read, and gives the default export of the first. A configuration that blocks the thread cannot be
 * ended from here; one that waits is left after 5 seconds.
 */
export async function importConfig(
  files: readonly [SourceFile, ...SourceFile[]],
  {
    clock = systemClock,
    grounds = [],
    strippers = systemStrippers(grounds),
    hashedPackages,
  }: ImportOptions = {},
): Promise<ImportedConfig> {
  const [entry] = files;
  const prepared = prepare(files, strippers);
  if (prepared.type === 'broken') return prepared;
  const packages = await ownModules(Object.values(prepared.sources).map(({ source }) => source));
  // Node keeps what it has imported: each time needs an address of its own, in every copy of this package.
  const mark = `?rerail-config=${randomUUID()}`;
  guardRequire(path.dirname(entry.realPath), hashedPackages);
  const folders = hashedPackages?.map((folder) => `${urlOf(folder)}/`);
  hookFiles({ mark, files: prepared.sources, packages, hashedPackages: folders });
  const ended = await importOwned(entry, { mark, clock });
  if (ended.type === 'imported') return readDefault(ended.value, entry);
  if (ended.type === 'late') {
    return broken(
      entry,
      `was still being loaded after ${maxImportMs / 1000} s: a configuration must not wait for anything`,
    );
  }
  const ran = prepared.sources[urlOf(entry.realPath)]?.source ?? '';
  return { type: 'broken', path: entry.path, ...describeThrown(ended.thrown, { entry, ran }) };
}

type Prepared =
  | { readonly type: 'ready'; readonly sources: HookedFiles['files'] }
  | Extract<ImportedConfig, { type: 'broken' }>;

function prepare(files: readonly SourceFile[], strippers: TypeStrippers): Prepared {
  const sources: Record<string, { readonly format: string; readonly source: string }> = {};
  for (const file of files.filter((each) => /\.(?:m?[jt]s|json)$/.test(each.path))) {
    const text = decodeText(file.bytes);
    if (text === undefined) return broken(file, 'is not text in UTF-8');
    const isTyped = /\.m?ts$/.test(file.path);
    if (!isTyped) {
      sources[urlOf(file.realPath)] = {
        format: file.path.endsWith('.json') ? 'json' : 'module',
        source: text,
      };
      continue;
    }
    const stripped = stripTypes(text, { file: file.path, strippers });
    if (stripped.type === 'no-compiler') return broken(file, noCompiler);
    if (stripped.type === 'broken') return { ...broken(file, stripped.text), line: stripped.line };
    sources[urlOf(file.realPath)] =
      stripped.type === 'native'
        ? { format: 'module-typescript', source: text }
        : { format: 'module', source: stripped.text };
  }
  return { type: 'ready', sources };
}

const noCompiler = `is in TypeScript, which Node ${process.versions.node} cannot load by itself: use Node 22.13 or later, or take the types out and name it rerail.config.mjs`;

function broken({ path: file }: SourceFile, text: string): Extract<ImportedConfig, { type: 'broken' }> {
  return { type: 'broken', path: file, text };
}

interface Importer {
  readonly load: (url: string) => Promise<unknown>;
}

/** Through a module of Node's own loader: a test runner would take an import of ours for one of its own. */
async function importNatively(url: string): Promise<unknown> {
  const address = 'data:text/javascript,export const load = (url) => import(url);';
  const importer = (await import(/* @vite-ignore */ address)) as Importer; // Its text stands above.
  return importer.load(url);
}

/** An error that it leaves to the process is a warning that names it; where a CommonJS package throws, Node 20 leaves it there as well. */
async function importOwned(
  { path: file, realPath }: SourceFile,
  { mark, clock }: { readonly mark: string; readonly clock: Clock },
): Promise<Ended> {
  const owner = warningOwner(`The configuration ${path.basename(file)}`);
  let thrown: unknown;
  const onStray: CodeOwner['onStray'] = (error) => (error === thrown ? 'taken' : owner.onStray(error));
  const ended = await withinTime(
    runOwned({ onStray }, () => importNatively(urlOf(realPath) + mark)),
    clock,
  );
  if (ended.type === 'threw') thrown = ended.thrown;
  return ended;
}

type Ended =
  | { readonly type: 'imported'; readonly value: unknown }
  | { readonly type: 'threw'; readonly thrown: unknown }
  | { readonly type: 'late' };

function withinTime(work: Promise<unknown>, clock: Clock): Promise<Ended> {
  return new Promise((resolve) => {
    const cancel = clock.after(maxImportMs, () => resolve({ type: 'late' }));
    const end = (ended: Ended): void => {
      cancel();
      resolve(ended);
    };
    work.then(
      (value) => end({ type: 'imported', value }),
      (thrown: unknown) => end({ type: 'threw', thrown }),
    );
  });
}

const example = 'export default defineConfig({ … })';

function readDefault(namespace: unknown, entry: SourceFile): ImportedConfig {
  const value = readProperty(namespace, 'default');
  if (value === undefined) return broken(entry, `exports nothing as its default: write ${example}`);
  if (typeof value === 'function') {
    return broken(entry, `exports a function: write ${example}, with the object itself`);
  }
  if (typeof readProperty(value, 'then') === 'function') {
    return broken(entry, 'exports a promise: write "await" before it, or export the object itself');
  }
  return { type: 'imported', value };
}

interface Ran {
  readonly entry: SourceFile;
  /** What was run in its place. */
  readonly ran: string;
}

/** What the file itself threw while it was run, with the line where that is known. */
function describeThrown(
  thrown: unknown,
  { entry, ran }: Ran,
): { readonly text: string; readonly line?: number } {
  const name = readText(thrown, 'name') ?? 'something';
  const message = readText(thrown, 'message') ?? showValue(thrown);
  const shown = message.replaceAll(/\?rerail-config=[\w-]+/g, '').slice(0, maxShownCharacters);
  const base = path.basename(entry.realPath).replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const place = new RegExp(String.raw`${base}\?rerail-config=[\w-]+:(\d+)`);
  const [, number] = place.exec(readText(thrown, 'stack') ?? '') ?? [];
  const line = number === undefined ? undefined : writtenLine(Number(number), { entry, ran });
  return { text: `threw while it was loaded: ${name}: ${shown}`, ...(line === undefined ? {} : { line }) };
}

/** A compiler moves lines; the same words are looked for where they were written. */
function writtenLine(number: number, { entry, ran }: Ran): number | undefined {
  const words = ran.split('\n')[number - 1]?.trim() ?? '';
  const index = (decodeText(entry.bytes) ?? '').split('\n').findIndex((line) => line.trim() === words);
  return words === '' || index === -1 ? undefined : index + 1;
}

const maxShownCharacters = 400;
