import type { RunLimits } from '../../agent/limits.ts';
import type { PermissionRule } from '../../agent/approval/permission.ts';
import type { Tool } from '../../model/tool.ts';
import type { RetryOption } from '../../resilience/retry-policy.ts';
import type { SandboxLevel } from '../../tools/sandbox/sandbox.ts';

/** What a configuration file of the command line may say. Everything may be left out. Keys of providers never stand in it. */
export interface RerailConfig {
  /** `anthropic:claude-sonnet-5`; of a list the first is asked, the others are the fallback chain. */
  readonly model?: string | readonly string[];
  /** Where the provider of the first model is asked instead of at its own address: `https://host/v1`. Its key is sent there. */
  readonly baseURL?: string;
  /** Instructions for the agent, besides how to work in a folder. */
  readonly instructions?: string;
  /** The file that runs are kept in, from the folder of this file. */
  readonly store?: string;
  /** Which calls may run, are asked for, or never run. Rules of all files are joined; the strictest that fits counts. */
  readonly permissions?: readonly PermissionRule[];
  /** Paths in the workspace that no tool may change; `*` and `**` are understood. Lists of all files are joined. */
  readonly protect?: readonly string[];
  readonly sandbox?: SandboxConfig;
  readonly limits?: Partial<RunLimits>;
  /** `none`, `quick`, `standard`, `patient`, or what differs from `standard`. */
  readonly retry?: RetryOption;
  /** Whether a model is asked to say in plain words why a run failed, under the report: `auto`, `always` or `never`, which is the default. */
  readonly explain?: 'auto' | 'always' | 'never';
  /** Whether the agent may fetch pages; true by default. */
  readonly fetch?: boolean;
  /** Folders of slash commands in Markdown, from the folder of this file. */
  readonly commands?: string | readonly string[];
  /** Tools of your own, made by `tool()`. In TypeScript or JavaScript only. */
  readonly tools?: readonly Tool[];
}

/** How commands are held: at least this far, or not at all. */
export interface SandboxConfig {
  /** Where this is not available, no command runs. */
  readonly min?: Exclude<SandboxLevel, 'off'>;
  /** Commands run with your rights. A text says why, and is shown with every label. */
  readonly off?: boolean | string;
}

/**
 * Gives a configuration back as it is, with its type.
 *
 * @example export default defineConfig({ model: 'anthropic:claude-sonnet-5', limits: { maxTurns: 30 } });
 */
export function defineConfig(config: RerailConfig): RerailConfig {
  return config;
}
