import type { PermissionRule } from '../../agent/approval/permission.ts';
import type { RunLimits } from '../../agent/limits.ts';
import type { Model } from '../../model/model.ts';
import type { Tool } from '../../model/tool.ts';
import type { RetryOption } from '../../resilience/retry-policy.ts';
import type { ChosenAddress } from './provider-address.ts';
import type { SandboxChoice } from '../../tools/workspace/workspace.ts';

/** Everything that a command needs to know before it makes an agent: from flags, environment and files, checked. */
export interface Settings {
  /** The folder to work in, absolute. */
  readonly workspace: string;
  /** The first is asked, the others are the fallback chain. Never empty: the embedded model where there is no other. */
  readonly models: readonly ChosenModel[];
  /** Which model, and why this one: one line for people. */
  readonly modelLine: string;
  /** The file that runs are kept in, or the address of a database. It may hold a password, and is shown by `shownPlace` only. */
  readonly storeFile: string;
  readonly instructions: string;
  readonly permissions: readonly PermissionRule[];
  readonly protect: readonly string[];
  readonly sandbox: SandboxChoice;
  readonly limits: Partial<RunLimits>;
  readonly retry: RetryOption | undefined;
  /** Whether a run that fails is explained by a model. */
  readonly explain?: 'auto' | 'always' | 'never' | undefined;
  /** Tools of the user's own, from a configuration in TypeScript. */
  readonly tools: readonly Tool[];
  readonly canFetch: boolean;
  /** Slash commands of the workspace in Markdown, as they were when they were judged. */
  readonly commandFiles: readonly CommandFile[];
  /** Folders of slash commands of the person's own. */
  readonly commandFolders: readonly string[];
  /** What the person should know: a file that is not trusted and was passed over, a value that another one hides. */
  readonly notices: readonly string[];
  /** Of these, where state is kept if it cannot be kept where it belongs: every command that reads it says so. */
  readonly stateNotices?: readonly string[];
  /** Where each value came from, for `rerail config`. */
  readonly origins: readonly SettingOrigin[];
}

/** A slash command with exactly the bytes that were trusted: the file may have changed since. */
export interface CommandFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface ChosenModel {
  /** `anthropic:claude-sonnet-5`. */
  readonly name: string;
  readonly model: Model;
  /** The address of the model, if a setting chose one. */
  readonly address?: ChosenAddress;
}

export interface SettingOrigin {
  /** `limits.maxTurns`. */
  readonly path: string;
  /** As it is shown: secrets are not. */
  readonly value: string;
  /** `flag --model`, `rerail.config.ts:4`, `environment RERAIL_MODEL`, `default`. */
  readonly from: string;
}
