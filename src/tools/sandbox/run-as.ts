import { readFile, stat } from 'node:fs/promises';

/**
 * As whom commands run. An ordinary user stays who he is. Root becomes the owner of the workspace. Where that is root itself, a
 * contained command keeps the number without any of its rights, and what only root may read is not there for it; a restricted one
 * becomes nobody, where there is such a user.
 */
export type RunAs =
  | { readonly type: 'self' }
  | { readonly type: 'owner'; readonly uid: number; readonly gid: number }
  | { readonly type: 'root'; readonly hasNobody: boolean };

/** Whom nothing belongs to. */
export const nobody = 65_534;

/** Finds out as whom the commands of a workspace run. */
export async function whoRuns(root: string): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { type: 'self' };
  const { uid, gid } = await stat(root);
  if (uid === 0) return { type: 'root', hasNobody: await isMapped(nobody) };
  return { type: 'owner', uid, gid: gid === 0 ? uid : gid };
}

/** In a user namespace, such as a container without privileges, most numbers stand for nobody at all. */
async function isMapped(uid: number): Promise<boolean> {
  const text = await readFile('/proc/self/uid_map', 'utf8').catch(() => '');
  return text.split('\n').some((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return uid >= first && uid < first + count;
  });
}
