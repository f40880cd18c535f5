import type { Tool } from '../../model/tool.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import type { Settings } from '../config/settings.ts';

/** The tools of a workspace, loaded when an agent is made and not before. */
export async function loadWorkspaceTools(
  workspace: Workspace,
  { canFetch }: Pick<Settings, 'canFetch'>,
): Promise<readonly Tool[]> {
  const { workspaceTools } = await import('../../tools/workspace/workspace-tools.ts');
  return workspaceTools(workspace, canFetch ? {} : { fetch: false });
}
