import type { SandboxLevel } from './sandbox.ts';

/** A way to start commands, of one level. */
export interface Launcher {
  readonly level: SandboxLevel;
  readonly label: string;
  /** Makes ready what one command needs. Rejects with a `SandboxError` where that cannot be had. */
  readonly prepare: (place: CommandPlace) => Promise<Launch>;
}

/** Where a command runs and how far it may go. */
export interface CommandPlace {
  /** Absolute, and known to lie in the workspace. */
  readonly folder: string;
  readonly limits: CommandLimits;
}

/** What the kernel holds each process of a command to. */
export interface CommandLimits {
  readonly cpuSeconds: number;
  readonly fileBytes: number;
}

/** What is started for one command. */
export interface Launch {
  /** What comes before the shell and the command; empty for the shell itself. */
  readonly wrapper: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly limits: CommandLimits;
  /** As whom, where it is somebody else. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** For the wrapper, on descriptor 4. */
  readonly filter?: Uint8Array;
  /** Its processes all end with it, and the command itself is the grandchild of what is started. */
  readonly isContained: boolean;
  /** Puts in order what it left. Returns what a person should know of that. */
  readonly finish: () => Promise<readonly string[]>;
}
