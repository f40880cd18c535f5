import type { Sandbox } from '../sandbox/sandbox.ts';

/**
 * A folder in which an agent works. Its tools reach nothing outside, by whatever name: what counts is the object that was opened,
 * not the path that was asked for.
 */
export interface Workspace {
  /** Absolute, and itself no link. */
  readonly root: string;
  readonly options: ResolvedWorkspaceOptions;
  /** What commands run in. Probed when it is first needed. */
  readonly sandbox: () => Promise<Sandbox>;
  /** What the tools have read and changed, by path from the root. */
  readonly memory: WorkspaceMemory;
}

/** How a workspace is kept. Everything has a default. */
export interface WorkspaceOptions {
  /** Paths from the root that no tool may change, besides `.git` and the configuration of Rerail. `*` and `**` are understood. */
  readonly protect?: readonly string[];
  /** Larger files are neither read nor searched; 10 MB unless told. */
  readonly maxFileBytes?: number;
  /** Files that have more names than one are refused, unless this is true: the other name may lie outside. */
  readonly allowHardLinks?: boolean;
  readonly sandbox?: SandboxChoice;
}

/** What is asked of the sandbox. */
export interface SandboxChoice {
  /** The least that will do. Where it cannot be had, no command runs. */
  readonly min?: 'contained' | 'restricted' | 'bare';
  /** Somebody has switched it off: who and where, in words, for the label. */
  readonly off?: string;
}

/** The same, with the defaults filled in. */
export interface ResolvedWorkspaceOptions {
  readonly protect: readonly string[];
  readonly maxFileBytes: number;
  readonly allowHardLinks: boolean;
  readonly sandbox: SandboxChoice;
}

/** What is known of files, so that nobody writes over what he has not seen, and a change can be taken back. */
export interface WorkspaceMemory {
  /** The hash of what was last read or written, by path. At most 10,000. */
  readonly seen: Map<string, string>;
  /** Changes by the tools, the oldest first. At most 1,000, and 50 MB of former contents. */
  readonly changes: FileChange[];
}

/** One change of one file by a tool. */
export interface FileChange {
  readonly runId: string;
  readonly path: string;
  /** Nothing where the file was not there. */
  readonly before: Uint8Array | undefined;
  /** The hash of what was written. */
  readonly afterHash: string;
}
