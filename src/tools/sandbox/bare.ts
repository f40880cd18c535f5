import { homedir, tmpdir } from 'node:os';
import type { Workspace } from '../workspace/workspace.ts';
import { cleanEnvironment, parentPrograms } from './clean-environment.ts';
import { labels } from './labels.ts';
import type { Launcher } from './launch.ts';

/** A way to start commands with our own rights and a clean environment. */
export function createBare({ root, options }: Workspace): Launcher {
  const { off } = options.sandbox;
  const environment = cleanEnvironment({
    home: ownHome(),
    temporary: tmpdir(),
    programs: parentPrograms(root),
  });
  return {
    level: off === undefined ? 'bare' : 'off',
    label: off === undefined ? labels.bare() : labels.off(off),
    prepare: ({ folder, limits }) =>
      Promise.resolve({
        wrapper: [],
        environment,
        folder,
        limits,
        isContained: false,
        finish: () => Promise.resolve([]),
      }),
  };
}

function ownHome(): string {
  try {
    return homedir();
  } catch {
    // A user without an entry and without HOME has none.
    return tmpdir();
  }
}
