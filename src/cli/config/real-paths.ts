import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { readProperty } from '../../errors/classify/safe-read.ts';

const maxLevels = 64;

/** A path without links, as far as it is there. */
export async function realest(file: string): Promise<string> {
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

/** Whether a path is a folder or something in it. Both are real and absolute. */
export function isInside(file: string, folder: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
