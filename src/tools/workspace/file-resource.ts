import { pathName } from './path-name.ts';
import type { Workspace } from './workspace.ts';

/** What calls that change the same file have in common, so that they run one after the other. */
export function fileResource({ root }: Workspace, path: unknown): string | undefined {
  try {
    return `file:${root}/${pathName(root, String(path))}`;
  } catch {
    return undefined; // A path that is refused is refused by the call itself, in words.
  }
}
