import { lstat, mkdir, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { visible } from '../../base/printable.ts';
import { readProperty } from '../../errors/classify/safe-read.ts';
import { configError } from '../../errors/config-error.ts';
import type { CliIo } from '../start/io.ts';
import { findRepository } from './find-files.ts';
import { isInside, realest } from './real-paths.ts';

/** Where the command line keeps what belongs to a person, by the rules that desktops have agreed on. */
export interface StateFolders {
  /** For what a person writes: `config.json`, `commands`. Absent where there is no such folder outside the workspace. */
  readonly config: string | undefined;
  /** For what we write: `runs.db`, `trust.json`. */
  readonly state: string;
  /** Where state belongs, if it can only be read there and is kept in a temporary folder for now. */
  readonly readOnlyState?: string;
  /** What a download may have filled: the workspace, and where the program was called, each with its whole repository. */
  readonly grounds: readonly string[];
  /** What a person must know about these folders. */
  readonly notices: readonly string[];
}

type HomeIo = Pick<CliIo, 'env' | 'home' | 'accountHome' | 'folder'>;

/**
 * Finds these folders for a workspace. Invariant: none of them is a part of the workspace, of its repository, or of the folder
 * where the program was called, unless it is the account's own home folder: a clone must not bring along a configuration or a
 * list of what is trusted, whatever `HOME` says. Throws a `CONFIG_ERROR` where `HOME` is empty or relative.
 */
export async function findStateFolders(io: HomeIo, workspace: string = io.folder): Promise<StateFolders> {
  const grounds = await groundsOf([workspace, io.folder]);
  const wanted = { config: folderOf('config', io), state: folderOf('state', io) };
  const config = await judge(wanted.config, { kind: 'config', io, grounds });
  const state = await judge(wanted.state, { kind: 'state', io, grounds });
  const notices = [
    ...relativeNotices(io),
    ...(config.type === 'inside' ? [insideNotice(config.folder)] : []),
  ];
  const usable = config.type === 'outside' ? config.folder : undefined;
  if (state.type === 'outside') {
    const why = await whyUnwritable(state.folder);
    if (why === undefined) return { config: usable, state: state.folder, grounds, notices };
    const temporary = await temporaryFolder(grounds);
    const notice = temporaryNotice(`State cannot be kept in "${visible(state.folder)}": ${why}`, temporary);
    return {
      config: usable,
      state: temporary,
      readOnlyState: state.folder,
      grounds,
      notices: [...notices, notice],
    };
  }
  const temporary = await temporaryFolder(grounds);
  const why =
    state.type === 'none'
      ? 'This account has no home folder, and HOME is not set'
      : `"${visible(state.folder)}" is inside the workspace, so nothing in it counts as state of yours`;
  return {
    config: usable,
    state: temporary,
    grounds,
    notices: [...notices, temporaryNotice(why, temporary)],
  };
}

/** The root of a file system is none, and everything is in it. */
async function groundsOf(folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all([...new Set(folders)].map(findRepository));
  return found.filter((ground) => path.dirname(ground) !== ground);
}

/** The home folder, for a path that begins with `~/`. */
export function requireHome({ home }: Pick<CliIo, 'home'>): string {
  if (home === undefined) throw homeError('HOME is not set, and this account has no home folder');
  if (home === '') throw homeError('HOME is empty');
  if (!path.isAbsolute(home))
    throw homeError(`HOME is "${visible(home)}", which is not an absolute path: it would mean the workspace`);
  return home;
}

function homeError(message: string): Error {
  return configError(message, {
    hint: 'Set HOME to the absolute path of your home folder, or remove it from the environment. Nothing was started.',
  });
}

type Kind = 'config' | 'state';

/** Each with the variable that names another place, and where it is in a home folder. */
const kinds = {
  config: { variable: 'XDG_CONFIG_HOME', below: ['.config'] },
  state: { variable: 'XDG_STATE_HOME', below: ['.local', 'state'] },
} as const satisfies Record<Kind, { readonly variable: string; readonly below: readonly string[] }>;

/** A relative path in these variables counts as none, as the rules have it: it would mean another folder in every folder. */
function folderOf(kind: Kind, io: HomeIo): string | undefined {
  const given = io.env[kinds[kind].variable] ?? '';
  if (path.isAbsolute(given)) return path.join(given, 'rerail');
  return io.home === undefined ? undefined : ownFolder(kind, requireHome(io));
}

function ownFolder(kind: Kind, home: string): string {
  return path.join(home, ...kinds[kind].below, 'rerail');
}

type Judged =
  | { readonly type: 'none' }
  | { readonly type: 'outside'; readonly folder: string }
  | { readonly type: 'inside'; readonly folder: string };

interface Judging {
  readonly kind: Kind;
  readonly io: HomeIo;
  readonly grounds: readonly string[];
}

async function judge(folder: string | undefined, { kind, io, grounds }: Judging): Promise<Judged> {
  if (folder === undefined) return { type: 'none' };
  const real = await realest(folder);
  if (!grounds.some((ground) => isInside(real, ground))) return { type: 'outside', folder };
  // Working in the home folder itself is no trick of a clone: the list of users says where it is, not the environment.
  const accountHome = io.accountHome ?? io.home ?? '';
  const isOwn = path.isAbsolute(accountHome) && real === (await realest(ownFolder(kind, accountHome)));
  return { type: isOwn ? 'outside' : 'inside', folder };
}

function relativeNotices({ env }: HomeIo): readonly string[] {
  return Object.values(kinds).flatMap(({ variable }) => {
    const given = env[variable] ?? '';
    return given === '' || path.isAbsolute(given)
      ? []
      : [`${variable} is "${visible(given)}", which is not an absolute path, and was ignored`];
  });
}

function insideNotice(folder: string): string {
  return `"${visible(folder)}" is inside the workspace, so no configuration of yours was read from it`;
}

function temporaryNotice(why: string, temporary: string): string {
  return `${why}. Runs, trust and chat history are kept in "${visible(temporary)}", and are lost when the temporary folder is emptied. To keep them, set XDG_STATE_HOME to a folder outside the workspace that you can write to`;
}

/**
 * Why nothing can be written in a folder, which need not be there yet. It is tried, and nothing is left behind: to some accounts
 * everything seems to be allowed.
 */
async function whyUnwritable(folder: string): Promise<string | undefined> {
  const levels = folder.split(path.sep).length;
  let current = folder;
  for (let level = 0; level <= levels; level += 1) {
    let isTried = false;
    try {
      const found = await stat(current);
      if (!found.isDirectory()) return `"${visible(current)}" is not a folder`;
      isTried = true;
      await rmdir(await mkdtemp(path.join(current, '.rerail-')));
      return undefined;
    } catch (error) {
      const errno = readProperty(error, 'code');
      if (typeof errno !== 'string') throw error;
      if (isTried || (errno !== 'ENOENT' && errno !== 'ENOTDIR'))
        return `"${visible(current)}" cannot be written (${errno})`;
      current = path.dirname(current);
    }
  }
  return `"${visible(folder)}" does not exist`;
}

/** Another user may have made one of these names first. */
const maxNames = 4;

/** A folder that only this user can enter, the same one for every command until the machine empties its temporary folder. */
async function temporaryFolder(grounds: readonly string[]): Promise<string> {
  const user = process.getuid?.() ?? 'state';
  const parents = [...new Set([tmpdir(), '/tmp', '/var/tmp'])].filter((parent) => path.isAbsolute(parent));
  for (const parent of parents) {
    const real = await realest(parent);
    if (grounds.some((ground) => isInside(real, ground))) continue;
    for (let index = 0; index < maxNames; index += 1) {
      const folder = path.join(real, `rerail-${user}${index === 0 ? '' : `-${index}`}`);
      if (await isPrivateFolder(folder)) return folder;
    }
  }
  throw configError(
    'There is no folder that state can be kept in: neither the home folder nor a temporary one',
    {
      hint: 'Set XDG_STATE_HOME to a folder outside the workspace that you can write to. Nothing was started.',
    },
  );
}

/** Made here, or found as it was made: a folder and no link, of this user, closed to all others. */
async function isPrivateFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const errno = readProperty(error, 'code');
    if (typeof errno !== 'string') throw error;
    if (errno !== 'EEXIST') return false;
  }
  const found = await lstat(folder);
  if (!found.isDirectory()) return false;
  const self = process.getuid?.();
  return self === undefined || (found.uid === self && (found.mode & 0o077) === 0);
}
