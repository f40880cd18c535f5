import type { Stats } from 'node:fs';
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isInside } from './clean-environment.ts';

/** What of the system a command may read. */
export type SystemPath =
  | { readonly type: 'folder' | 'file'; readonly path: string }
  | { readonly type: 'link'; readonly path: string; readonly target: string };

/** Programs, libraries and the few settings that programs need, as far as this machine has them. Never a home folder. */
export function systemPaths(): readonly SystemPath[] {
  const own = ownRuntime();
  const folders = own === undefined ? [] : [own.programs, own.packages];
  return [...programFolders, ...settings, ...folders].flatMap(readSystemPath);
}

/**
 * Programs and packages of the Node that runs us, where they lie outside the system's folders: what works here should work there.
 * Not the whole prefix, which may be somebody's home.
 */
export function ownRuntime(execPath: string = process.execPath): OwnRuntime | undefined {
  const programs = path.dirname(realpathSync(execPath));
  const packages = path.join(path.dirname(programs), 'lib', 'node_modules');
  if (path.basename(programs) !== 'bin' || !isFolder(packages)) return undefined;
  if (programFolders.some((folder) => isInside(folder, programs))) return undefined;
  return { programs, packages };
}

/** Two folders of an installation of Node. */
export interface OwnRuntime {
  readonly programs: string;
  readonly packages: string;
}

/** Where programs lie besides the system's folders. */
export function ownPrograms(): readonly string[] {
  const own = ownRuntime();
  return own === undefined ? [] : [own.programs];
}

/** Whether a folder holds folders of the system: binding it as the workspace would bind them with it. */
export function holdsSystem(root: string): boolean {
  return [...programFolders, '/etc', '/proc', '/dev', '/tmp'].some((folder) => isInside(root, folder));
}

/** What of the kernel's own files can be written by whoever owns them: each is bound again, to be read only. */
export function kernelPaths(): readonly string[] {
  return readdirSync('/proc').flatMap((name) => {
    if (/^\d+$/.test(name)) return [];
    const found = lstatOf(`/proc/${name}`);
    if (found === undefined || found.isSymbolicLink()) return [];
    return found.isDirectory() || (found.mode & 0o222) !== 0 ? [`/proc/${name}`] : [];
  });
}

// prettier-ignore
const programFolders = [
  '/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32',
  '/nix/store', '/gnu/store', '/run/current-system/sw',
];

/** The linker's cache, names of users and services, certificates, the time zone, and where Debian's links between programs lead. */
// prettier-ignore
const settings = [
  '/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/alternatives', '/etc/nsswitch.conf',
  '/etc/passwd', '/etc/group', '/etc/hosts', '/etc/services', '/etc/protocols', '/etc/localtime',
  '/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/pki/tls/certs', '/etc/pki/ca-trust/extracted',
  '/etc/mime.types', '/etc/terminfo', '/etc/perl', '/etc/python3',
];

function readSystemPath(name: string): readonly SystemPath[] {
  const found = lstatOf(name);
  if (found === undefined) return [];
  if (found.isSymbolicLink() && programFolders.includes(name)) {
    return [{ type: 'link', path: name, target: readlinkSync(name) }];
  }
  if (isFolder(name)) return [{ type: 'folder', path: name }];
  return isFile(name) ? [{ type: 'file', path: name }] : [];
}

function lstatOf(name: string): Stats | undefined {
  return lstatSync(name, { throwIfNoEntry: false });
}

function isFolder(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isFile(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isFile() ?? false;
}
