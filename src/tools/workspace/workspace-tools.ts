import type { Tool } from '../../model/tool.ts';
import { editFileTool } from './edit-file.ts';
import { fetchTool } from './fetch/fetch-page.ts';
import type { FetchOptions } from './fetch/fetch-page.ts';
import { findFilesTool } from './search/find-files.ts';
import { listFilesTool } from './search/list-files.ts';
import { readFileTool } from './read-file.ts';
import { judgeByPlace } from './real-place.ts';
import { searchFilesTool } from './search/search-files.ts';
import { shellTool } from './shell.ts';
import type { ShellOptions } from './shell.ts';
import type { Workspace } from './workspace.ts';
import { writeFileTool } from './write-file.ts';
import { checkOptions } from '../../model/check/check-options.ts';

/** Which tools, and how. */
export interface WorkspaceToolsOptions {
  /** `false`: no commands are run. */
  readonly shell?: ShellOptions | false;
  /** `false`: nothing is fetched. */
  readonly fetch?: FetchOptions | false;
}

/**
 * Everything that an agent needs to work in a folder: read, write, edit, list, find, search, run commands and fetch pages.
 *
 * @example
 * const workspace = await openWorkspace('.');
 * const agent = createAgent({ model, tools: workspaceTools(workspace) });
 */
export function workspaceTools(workspace: Workspace, options: WorkspaceToolsOptions = {}): readonly Tool[] {
  checkOptions({ of: 'workspaceTools()', rules: ['shell', 'fetch'] }, options);
  const { shell = {}, fetch = {} } = options;
  return [
    ...[
      readFileTool(workspace),
      writeFileTool(workspace),
      editFileTool(workspace),
      listFilesTool(workspace),
      findFilesTool(workspace),
      searchFilesTool(workspace),
    ].map((made) => judgeByPlace(workspace, made)),
    ...(shell === false ? [] : [shellTool(workspace, shell)]),
    ...(fetch === false ? [] : [fetchTool(fetch)]),
  ];
}
