import { strictestLevel } from '../../model/confinement.ts';
import type { ConfinementLevel } from '../../model/confinement.ts';
import { notAvailable } from '../sandbox/sandbox-failure.ts';
import { sandboxLevels } from '../sandbox/sandbox.ts';
import type { Workspace } from './workspace.ts';

/** The same workspace for somebody who may be held less by nobody: commands run in this level or a stronger one, or not at all. */
export function holdWorkspace(workspace: Workspace, level: ConfinementLevel): Workspace {
  const { options } = workspace;
  const min = strictestLevel([options.sandbox.min, level]) ?? level;
  return {
    ...workspace,
    options: { ...options, sandbox: { ...options.sandbox, min } },
    sandbox: async () => {
      const sandbox = await workspace.sandbox();
      if (sandboxLevels.indexOf(sandbox.level) <= sandboxLevels.indexOf(min)) return sandbox;
      throw notAvailable(min, { found: sandbox.level, reasons: sandbox.reasons });
    },
  };
}
