/** How far commands are held: see `docs/workspace.md`. The label says exactly this, and no more. */
export type SandboxLevel = 'contained' | 'restricted' | 'bare' | 'off';

/** From the strongest to the weakest. */
export const sandboxLevels = [
  'contained',
  'restricted',
  'bare',
  'off',
] as const satisfies readonly SandboxLevel[];

/** What commands run in, found out by trying. */
export interface Sandbox {
  readonly level: SandboxLevel;
  /** What is claimed, in words for a person. */
  readonly label: string;
  /** Why it is no stronger: what was tried and how it failed. Empty for `contained`. */
  readonly reasons: readonly string[];
  /** Rejects with a `SandboxError` where the command could not be started; whatever the command itself does is a result. */
  readonly run: (command: SandboxedCommand) => Promise<CommandResult>;
}

export interface SandboxedCommand {
  /** For `sh -c`. */
  readonly command: string;
  /** From the root of the workspace; the root unless told. */
  readonly folder?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Of each stream; the head and the tail are kept. 1 MiB unless told. */
  readonly maxOutputBytes?: number;
  /** Told of output as it comes, at most ten times a second. */
  readonly onOutput?: (text: string) => void;
}

export interface CommandResult {
  readonly exitCode: number | undefined;
  readonly signal?: string;
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  readonly durationMs: number;
  /** Why we ended it, where we did. */
  readonly ended?: 'timeout' | 'cancelled';
  /** A process that it left behind may still run. Never in `contained`. */
  readonly survivorsPossible: boolean;
  readonly level: SandboxLevel;
}

export interface BoundedOutput {
  readonly text: string;
  /** Of everything that came. */
  readonly bytes: number;
  /** Left out in the middle. */
  readonly omittedBytes: number;
}
