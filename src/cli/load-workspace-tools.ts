import type { Tool } from '../model/tool.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import type { Settings } from './config/settings.ts';

/** The tools of a workspace, loaded when an agent is made and not before. */
export async function loadWorkspaceTools(
  workspace: Workspace,
  { canFetch }: Pick<Settings, 'canFetch'>,
): Promise<readonly Tool[]> {
  const [read, write, edit, list, find, search, shell, fetching] = await Promise.all([
    import('../tools/workspace/read-file.ts'),
    import('../tools/workspace/write-file.ts'),
    import('../tools/workspace/edit-file.ts'),
    import('../tools/workspace/list-files.ts'),
    import('../tools/workspace/find-files.ts'),
    import('../tools/workspace/search-files.ts'),
    import('../tools/workspace/shell.ts'),
    import('../tools/workspace/fetch-page.ts'),
  ]);
  return [
    read.readFileTool(workspace),
    write.writeFileTool(workspace),
    edit.editFileTool(workspace),
    list.listFilesTool(workspace),
    find.findFilesTool(workspace),
    search.searchFilesTool(workspace),
    shell.shellTool(workspace),
    ...(canFetch ? [fetching.fetchTool()] : []),
  ];
}
