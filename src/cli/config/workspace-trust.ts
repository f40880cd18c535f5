import { isTrusted } from './trust-list.ts';
import type { TrustList } from './trust-list.ts';

/** What is to be said of files that were found in a workspace: `changed` since they were trusted. */
export type TrustVerdict = 'trusted' | 'changed' | 'unknown';

interface HashedFile {
  readonly path: string;
  readonly sha256: string;
}

/** All of them or none: a configuration is what it imports. */
export function judgeFiles(list: TrustList, files: readonly HashedFile[]): TrustVerdict {
  if (files.every((file) => isTrusted(list, file))) return 'trusted';
  const [entry] = files;
  return list.entries.some((known) => known.path === entry?.path) ? 'changed' : 'unknown';
}

/** The notice for a person about a file that was skipped. */
export function passedOverNotice(
  shown: string,
  {
    verdict,
    danger,
    command,
  }: { readonly verdict: TrustVerdict; readonly danger: string; readonly command: string },
): string {
  const what =
    verdict === 'changed' ? 'has changed since you trusted it and was not used' : 'was found and not used';
  return `${shown} ${what}: it could ${danger}. Look at it, then type: ${command} trust`;
}
