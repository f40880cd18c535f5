import { access, readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { readProperty } from '../../errors/classify/safe-read.ts';

/** Names of configuration files in a workspace, the first that is there counts. */
export const configNames = [
  'rerail.config.ts',
  'rerail.config.mts',
  'rerail.config.mjs',
  'rerail.config.js',
  'rerail.config.json',
] as const;

/** Names of the file of a person, in `$XDG_CONFIG_HOME/rerail`. */
export const userConfigNames = ['config.ts', 'config.mts', 'config.mjs', 'config.js', 'config.json'] as const;

/** The folder of slash commands in a workspace. */
export const commandsFolder = path.join('.rerail', 'commands');

/** What a workspace brings along that would change what is done in it. Paths are absolute, their folders without links. */
export interface WorkspaceFiles {
  /** Configuration files from the workspace up to the root of its repository, in the order in which they count. */
  readonly configs: readonly string[];
  readonly environment: string | undefined;
  readonly commands: readonly string[];
}

/** Looks at names only: nothing is opened. */
export async function findWorkspaceFiles(workspace: string): Promise<WorkspaceFiles> {
  const root = await realpathOr(workspace);
  const configs = await findConfigs(root);
  const environment = path.join(root, '.env');
  const commands = await findCommands(path.join(root, commandsFolder));
  return {
    configs,
    environment: (await isThere(environment)) ? environment : undefined,
    commands,
  };
}

/** The configuration files of a folder that are there, in the order in which they count. */
export async function configsIn(folder: string, names: readonly string[]): Promise<readonly string[]> {
  const files = names.map((name) => path.join(folder, name));
  const there = await Promise.all(files.map(isThere));
  return files.filter((_file, index) => there[index] === true);
}

const maxLevels = 64;

/** Without a repository, in the workspace alone: a folder above it may have another owner. */
async function findConfigs(workspace: string): Promise<readonly string[]> {
  const root = await findRepository(workspace);
  const found: (readonly string[])[] = [];
  for (let folder = workspace; ; folder = path.dirname(folder)) {
    // Bounded: the root is the workspace or above it.
    found.push(await configsIn(folder, configNames));
    if (folder === root || path.dirname(folder) === folder) return found.flat();
  }
}

/** The root of the repository that a folder is in, or the folder itself where it is in none; without links. */
export async function findRepository(folder: string): Promise<string> {
  const start = await realpathOr(folder);
  let current = start;
  for (let level = 0; level < maxLevels; level += 1) {
    if (await isThere(path.join(current, '.git'))) return current;
    if (path.dirname(current) === current) break;
    current = path.dirname(current);
  }
  return start;
}

/** More slash commands than these are not looked at, and then none is used. */
export const maxCommands = 200;

async function findCommands(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    const commands = names.filter((name) => name.endsWith('.md')).toSorted();
    // One more than allowed shows that there are more.
    return commands.slice(0, maxCommands + 1).map((name) => path.join(folder, name));
  } catch (error) {
    const errno = readProperty(error, 'code');
    if (typeof errno !== 'string') throw error;
    return []; // No folder, or none that may be listed: there are no commands in it for us.
  }
}

async function realpathOr(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    if (typeof readProperty(error, 'code') !== 'string') throw error;
    return path.resolve(folder); // Opening the workspace reports that it is missing.
  }
}

async function isThere(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (error) {
    const errno = readProperty(error, 'code');
    if (typeof errno !== 'string') throw error;
    return errno !== 'ENOENT' && errno !== 'ENOTDIR';
  }
}
