// Table: options that several commands have, worded once.
import type { Given, OptionSpec } from './command-spec.ts';
import type { SettingFlags } from '../config/setting-flags.ts';

export const modelOption: OptionSpec = {
  flags: '--model <name...>',
  text: 'The model, as anthropic:claude-sonnet-5; more than one are a fallback chain',
};

export const baseURLOption: OptionSpec = {
  flags: '--base-url <url>',
  text: 'Where the provider of the model is asked instead of at its own address, as https://host/v1; its key is sent there',
};

export const configOption: OptionSpec = {
  flags: '--config <file>',
  text: 'The configuration file to use instead of the one found in the workspace; "none" for none',
};

export const storeOption: OptionSpec = {
  flags: '--store <file>',
  text: 'The file that runs are kept in, or the address of a database, as postgres://user@host/database',
};

export const workspaceOption: OptionSpec = {
  flags: '--workspace <folder>',
  text: 'The folder to work in; this one by default',
};

export const sandboxOption: OptionSpec = {
  flags: '--sandbox <level>',
  text: 'The least level of sandbox for commands; where that is not available, none runs. "off" lets them run with your rights',
  choices: ['contained', 'restricted', 'bare', 'off'],
};

const noFetchOption: OptionSpec = {
  flags: '--no-fetch',
  text: 'Do not let the agent fetch pages',
};

export const jsonOption: OptionSpec = {
  flags: '--json',
  text: 'Print JSON and nothing else',
};

/** All that decide about settings, for a command that makes an agent. */
export const settingOptions: readonly OptionSpec[] = [
  modelOption,
  baseURLOption,
  configOption,
  storeOption,
  workspaceOption,
  sandboxOption,
  noFetchOption,
];

/** What was typed of these options. */
export function settingFlagsOf({ flags }: Pick<Given, 'flags'>): SettingFlags {
  const { model, baseUrl, config, store, workspace, sandbox, noFetch } = flags;
  return {
    model: Array.isArray(model) ? model.map(String) : asText(model),
    // In place of the list that was typed, `/model` of a conversation puts one name: the address was typed for another model.
    baseURL: typeof model === 'string' ? undefined : asText(baseUrl),
    config: asText(config),
    store: asText(store),
    workspace: asText(workspace),
    sandbox: asText(sandbox),
    fetch: noFetch === true ? false : undefined,
  };
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
