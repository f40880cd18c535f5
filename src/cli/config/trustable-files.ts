import path from 'node:path';
import { parseEnv } from 'node:util';
import { visible } from '../../base/printable.ts';
import type { ConfigProblem } from './config-problem.ts';
import { findWorkspaceFiles } from './find-files.ts';
import { keyVariables } from './provider-keys.ts';
import { readPackageDigests } from './package-digests.ts';
import type { PackageDigest } from './package-digests.ts';
import { readFileBounded } from './read-file-bounded.ts';
import { decodeText, maxConfigBytes, readSourceGraph } from './source-graph.ts';
import { contentHash } from './trust-list.ts';

/** A file of a workspace as it is shown to the person who decides about it. */
export interface TrustableFile {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
  /** As they are, unescaped; of `.env` only the names. */
  readonly lines: readonly string[];
}

export interface Trustable {
  readonly files: readonly TrustableFile[];
  /** Files that cannot be trusted because they cannot be read. */
  readonly problems: readonly ConfigProblem[];
}

/** Everything in a workspace that must be trusted: the configuration with the files and packages it loads, `.env`, slash commands. */
export async function readTrustable(workspace: string): Promise<Trustable> {
  const found = await findWorkspaceFiles(workspace);
  const files: TrustableFile[] = [];
  const problems: ConfigProblem[] = [];
  const refuse = (file: string, why: string): void => {
    problems.push({ place: visible(path.relative(workspace, file)), text: why });
  };
  const [config] = found.configs;
  if (config !== undefined) {
    const graph = await readSourceGraph(config);
    if (graph.type === 'unreadable') refuse(graph.path, graph.why);
    if (graph.type === 'read') {
      files.push(...graph.files.map(({ path: file, bytes }) => describe(file, bytes)));
      const digests = await readPackageDigests(graph.files);
      if (digests.type === 'unreadable') refuse(digests.path, digests.why);
      else files.push(...digests.packages.map(describePackage));
    }
  }
  const others = [...(found.environment === undefined ? [] : [found.environment]), ...found.commands];
  for (const file of others) {
    const read = await readFileBounded(file, maxConfigBytes);
    if (read.type === 'unreadable') refuse(file, read.why);
    if (read.type === 'read') files.push(describe(file, read.bytes));
  }
  return { files, problems };
}

function describe(file: string, bytes: Uint8Array): TrustableFile {
  const text = decodeText(bytes) ?? '(not text in UTF-8)';
  const lines = path.basename(file) === '.env' ? namesIn(text) : text.split(/\r?\n/);
  const isEnded = lines.at(-1) === '';
  return {
    path: file,
    sha256: contentHash(bytes),
    size: bytes.length,
    lines: isEnded ? lines.slice(0, -1) : lines,
  };
}

function describePackage({ path: folder, sha256, bytes, files, title }: PackageDigest): TrustableFile {
  return { path: folder, sha256, size: bytes, lines: [`the package ${title}: ${files} files`] };
}

function namesIn(text: string): readonly string[] {
  const keys = keyVariables();
  return Object.keys(parseEnv(text)).map((name) =>
    keys.has(name) ? `${name}=… (values are not shown)` : `${name}=… (not a key of a provider: not read)`,
  );
}
