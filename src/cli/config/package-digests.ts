import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { isRecord } from '../../base/json.ts';
import { readProperty } from '../../errors/classify/safe-read.ts';
import { decodeText, isScript } from './source-graph.ts';
import type { SourceFile } from './source-graph.ts';

/** An installed package that a configuration names, or that such a package depends on, with one hash over all its files. */
export interface PackageDigest {
  /** Its folder: absolute, without links. */
  readonly path: string;
  readonly sha256: string;
  readonly title: string;
  readonly bytes: number;
  readonly files: number;
}

export type PackageDigests =
  | { readonly type: 'read'; readonly packages: readonly PackageDigest[] }
  | { readonly type: 'unreadable'; readonly path: string; readonly why: string };

const maxPackages = 300;
const maxFiles = 20_000;
const maxBytes = 100_000_000;
const maxLevels = 64;

/**
 * Hashes every installed package that the scripts name in quotes, and all that those depend on. A file in `node_modules` can be
 * changed after a person has trusted the configuration, by a tool of the agent too.
 */
export async function readPackageDigests(scripts: readonly SourceFile[]): Promise<PackageDigests> {
  const waiting = scripts.filter(({ path: file }) => isScript(file)).flatMap(packagesNamedIn);
  const found = new Map<string, PackageDigest>();
  const room = { files: maxFiles, bytes: maxBytes };
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const folder = await findPackage(next);
    if (folder === undefined || found.has(folder)) continue;
    if (found.size >= maxPackages) {
      return { type: 'unreadable', path: folder, why: `is one of more than ${maxPackages} packages` };
    }
    const manifest = await readManifest(folder);
    const digest = await digestOf(folder, room);
    if ('why' in digest) return { type: 'unreadable', path: folder, why: digest.why };
    found.set(folder, { ...digest, path: folder, title: titleOf(manifest, next.name) });
    waiting.push(...dependenciesOf(manifest).map((name) => ({ name, from: folder })));
  }
  return { type: 'read', packages: [...found.values()] };
}

interface NamedPackage {
  readonly name: string;
  /** The folder from which it is looked for, upwards. */
  readonly from: string;
}

/** Every text in quotes that could be the name of a package: whether it is one shows in `node_modules`. */
function packagesNamedIn({ realPath, bytes }: SourceFile): readonly NamedPackage[] {
  const pattern = /(["'`])((?:@[\w.-]{1,100}\/)?[\w-][\w.-]{0,200})(?:\/[^"'`\n]{0,300})?\1/g;
  const names = [...(decodeText(bytes) ?? '').matchAll(pattern)].map(([, , name = '']) => name);
  const from = path.dirname(realPath);
  return [...new Set(names)]
    .filter((name) => !isBuiltin(name) && name !== 'rerail')
    .map((name) => ({ name, from }));
}

async function findPackage({ name, from }: NamedPackage): Promise<string | undefined> {
  let folder = from;
  for (let level = 0; level < maxLevels; level += 1) {
    const found = await realFolder(path.join(folder, 'node_modules', name));
    if (found !== undefined) return found;
    const parent = path.dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  return undefined;
}

async function realFolder(folder: string): Promise<string | undefined> {
  try {
    const found = await realpath(folder);
    return (await lstat(found)).isDirectory() ? found : undefined;
  } catch (error) {
    if (typeof readProperty(error, 'code') !== 'string') throw error;
    return undefined; // Not there: it is looked for further up.
  }
}

type Manifest = Readonly<Record<string, unknown>>;

async function readManifest(folder: string): Promise<Manifest> {
  try {
    const manifest: unknown = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    return isRecord(manifest) ? manifest : {};
  } catch {
    return {}; // Its files are hashed all the same; without a manifest it has no dependencies.
  }
}

function titleOf({ version }: Manifest, name: string): string {
  return typeof version === 'string' ? `${name} ${version}` : name;
}

function dependenciesOf(manifest: Manifest): readonly string[] {
  const lists = ['dependencies', 'optionalDependencies', 'peerDependencies'].map((key) => manifest[key]);
  return lists.flatMap((list) => (isRecord(list) ? Object.keys(list) : []));
}

interface Room {
  files: number;
  bytes: number;
}

/** Over the path and content of every file, in a fixed order. Packages inside it have digests of their own. */
async function digestOf(
  folder: string,
  room: Room,
): Promise<Pick<PackageDigest, 'sha256' | 'bytes' | 'files'> | { readonly why: string }> {
  const hash = createHash('sha256');
  const before = { ...room };
  const waiting = ['.'];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const entries = await readdir(path.join(folder, next), { withFileTypes: true });
    entries.sort((one, other) => (one.name < other.name ? -1 : 1));
    for (const entry of entries) {
      const name = path.join(next, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== 'node_modules') waiting.push(name);
        continue;
      }
      if (!entry.isFile()) return { why: `has "${name}", which is no regular file` };
      room.files -= 1;
      room.bytes -= (await lstat(path.join(folder, name))).size;
      if (room.files < 0 || room.bytes < 0) {
        return { why: `is part of more than ${maxFiles} files or ${maxBytes / 1_000_000} MB of packages` };
      }
      const content = await readFile(path.join(folder, name));
      hash.update(`${name}\0${content.length}\0`).update(content);
    }
  }
  return { sha256: hash.digest('hex'), bytes: before.bytes - room.bytes, files: before.files - room.files };
}
