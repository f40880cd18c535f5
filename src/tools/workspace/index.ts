export type {
  BoundedOutput,
  CommandResult,
  Sandbox,
  SandboxedCommand,
  SandboxLevel,
} from '../sandbox/sandbox.ts';
export { editFileTool } from './edit-file.ts';
export { fetchTool } from './fetch/fetch-page.ts';
export type { FetchOptions } from './fetch/fetch-page.ts';
export { findFilesTool } from './search/find-files.ts';
export { listFilesTool } from './search/list-files.ts';
export { openWorkspace } from './open-workspace.ts';
export { readFileTool } from './read-file.ts';
export { searchFilesTool } from './search/search-files.ts';
export { shellTool } from './shell.ts';
export type { ShellOptions } from './shell.ts';
export { takeBack } from './take-back.ts';
export type { TakenBack } from './take-back.ts';
export type {
  FileChange,
  ResolvedWorkspaceOptions,
  SandboxChoice,
  Workspace,
  WorkspaceMemory,
  WorkspaceOptions,
} from './workspace.ts';
export { workspaceTools } from './workspace-tools.ts';
export type { WorkspaceToolsOptions } from './workspace-tools.ts';
export { writeFileTool } from './write-file.ts';
