import type { ProtectedPlaces } from './protected-places.ts';
import { kernelPaths, systemPaths } from './system-folders.ts';
import type { SystemPath } from './system-folders.ts';

/** What differs between commands and machines. */
export interface BubblewrapOptions {
  readonly folder: string;
  readonly places: ProtectedPlaces;
  readonly canDisableNamespaces: boolean;
  readonly isRoot: boolean;
}

const temporaryBytes = 512 * 1024 * 1024;
const sharedMemoryBytes = 64 * 1024 * 1024;
/** Any number but root's: inside it is a name for whoever it was outside, and programs behave better as nobody special. */
const innerId = '1000';

/** What bubblewrap is told, up to the command. The order counts: a later mount lies over an earlier one. */
export function bubblewrapArguments(root: string, options: BubblewrapOptions): readonly string[] {
  const { places, folder, canDisableNamespaces, isRoot } = options;
  // prettier-ignore
  return [
    '--unshare-all', '--unshare-user', ...(canDisableNamespaces ? ['--disable-userns'] : []),
    ...(isRoot ? ['--uid', innerId, '--gid', innerId] : []),
    '--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--hostname', 'contained',
    '--seccomp', '4',
    ...systemPaths().flatMap(bindSystem),
    '--dev', '/dev', '--proc', '/proc',
    // Whoever is root outside may write the kernel's settings without any capability.
    ...kernelPaths().flatMap((name) => ['--ro-bind', name, name]),
    '--size', String(sharedMemoryBytes), '--tmpfs', '/dev/shm', '--remount-ro', '/dev',
    '--size', String(temporaryBytes), '--tmpfs', '/tmp',
    '--bind', root, root,
    // A mount point cannot be renamed: a folder that holds something protected stays where it is.
    ...places.above.flatMap((name) => ['--bind', name, name]),
    ...places.held.flatMap((name) => ['--ro-bind', name, name]),
    // What was made on the way to the mount points is memory without a bound.
    '--remount-ro', '/', '--chdir', folder, '--',
  ];
}

function bindSystem(found: SystemPath): readonly string[] {
  if (found.type === 'link') return ['--symlink', found.target, found.path];
  return ['--ro-bind', found.path, found.path];
}
