import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { readProperty } from '../../errors/classify/safe-read.ts';
import type { CliIo } from '../io.ts';
import { isAddress } from '../store-place.ts';
import { stateFolders } from './state-folders.ts';

/**
 * What of our own lies inside the workspace, as paths to protect: whoever works in his home folder must not have an agent that
 * can write the list of what is trusted.
 */
export async function ownPathsInside(
  workspace: string,
  { io, storeFile }: { readonly io: Pick<CliIo, 'env' | 'home'>; readonly storeFile: string },
): Promise<readonly string[]> {
  const { config, state } = stateFolders(io);
  // A database is no file.
  const files = isAddress(storeFile) ? [config, state] : [config, state, storeFile];
  const own = await Promise.all(files.map(realest));
  return own.flatMap((file, index) => {
    const inside = path.relative(workspace, file).split(path.sep).join('/');
    // The workspace is a folder of ours itself.
    if (inside === '') return ['*'];
    if (inside.startsWith('../') || inside === '..' || path.isAbsolute(inside)) return [];
    const isStore = index === 2;
    // The files beside a database have its name and an ending.
    return isStore ? [`${inside}*`] : [inside, `${inside}/**`];
  });
}

const maxLevels = 64;

/** Without links as far as it is there. */
async function realest(file: string): Promise<string> {
  const missing: string[] = [];
  let current = path.resolve(file);
  for (let level = 0; level < maxLevels; level += 1) {
    try {
      return path.join(await realpath(current), ...missing);
    } catch (error) {
      if (typeof readProperty(error, 'code') !== 'string') throw error;
      missing.unshift(path.basename(current));
      current = path.dirname(current);
    }
  }
  return file;
}
