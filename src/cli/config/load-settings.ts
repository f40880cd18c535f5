import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { RunLimits } from '../../agent/limits.ts';
import type { PermissionRule } from '../../agent/approval/permission.ts';
import { readProperty } from '../../errors/classify/safe-read.ts';
import { configError } from '../../errors/config-error.ts';
import type { Tool } from '../../model/tool.ts';
import type { RetryOption } from '../../resilience/retry-policy.ts';
import type { CliIo } from '../start/io.ts';
import { isAddress } from '../start/store-place.ts';
import { quote } from '../text/usage-error.ts';
import { chooseModel } from './choose-model.ts';
import type { ModelChoice } from './choose-model.ts';
import { problemsError } from './config-problem.ts';
import { defaultInstructions } from './default-instructions.ts';
import { environmentValues } from './environment-values.ts';
import { mergeLayers } from './given-value.ts';
import type { GivenValue, Merged } from './given-value.ts';
import type { ImportOptions } from './import-config.ts';
import { findLocalServer } from './local-server.ts';
import type { LocalServer } from './local-server.ts';
import { originsOf } from './origins.ts';
import { ownPathsInside } from './own-paths.ts';
import { keepEnvironmentKeys } from '../../providers/kept-secrets.ts';
import { addressWish } from './provider-address.ts';
import { flagValues } from './setting-flags.ts';
import type { SettingFlags } from './setting-flags.ts';
import type { Settings } from './settings.ts';
import { findStateFolders, requireHome } from './state-folders.ts';
import type { StateFolders } from './state-folders.ts';
import { toSandboxChoice } from './to-sandbox-choice.ts';
import { readUserLayer } from './user-layer.ts';
import { readWorkspaceLayer } from './workspace-layer.ts';

/** What a test hands in. */
export interface LoadOptions extends ImportOptions {
  readonly findLocal?: () => Promise<LocalServer | undefined>;
}

/**
 * Everything that a command needs to know, from flags, environment, the files of workspace and person, and defaults, in this
 * order and value by value. Throws a `CONFIG_ERROR` with everything that is wrong; nothing was started then.
 */
export async function loadSettings(
  flags: SettingFlags,
  io: CliIo,
  { findLocal = findLocalServer, ...options }: LoadOptions = {},
): Promise<Settings> {
  const workspace = await openFolder(path.resolve(io.folder, flags.workspace ?? '.'));
  const folders = await findStateFolders(io, workspace);
  const importing = { grounds: folders.grounds, ...options };
  const found = await readWorkspaceLayer({ ...importing, workspace, folders, io, configFlag: flags.config });
  const env = { ...found.dotEnv, ...io.env };
  keepEnvironmentKeys(env);
  const environment = environmentValues(io.env, io.folder);
  const typed = flagValues(flags, io.folder);
  const user = await readUserLayer(folders, io, importing);
  const problems = [...typed.problems, ...environment.problems, ...found.problems, ...user.problems];
  if (problems.length > 0) throw problemsError(problems);
  const layers = {
    flags: typed.values,
    environment: environment.values,
    workspace: found.values,
    user: user.values,
    defaults: defaultsFor(folders, io),
  };
  const merged = mergeLayers(layers);
  const model = await chooseModel({
    wanted: wantedModel(merged),
    address: addressWish(layers),
    env,
    isFromFile: (variable) => (io.env[variable] ?? '').trim() === '',
    findLocal,
  });
  const dotEnvNotice = found.hasUntrustedDotEnv && model.from === 'default' ? [untrustedDotEnv(io)] : [];
  const notices = [
    ...folders.notices,
    ...found.notices,
    ...environment.notices,
    ...hiddenNotices(merged),
    ...dotEnvNotice,
  ];
  const settings = toSettings({
    merged,
    workspace,
    model,
    notices,
    io,
    commandFiles: found.commandFiles,
  });
  const own = await ownPathsInside(workspace, { folders, storeFile: settings.storeFile });
  return { ...settings, stateNotices: folders.notices, protect: [...settings.protect, ...own] };
}

async function openFolder(folder: string): Promise<string> {
  try {
    const found = await stat(folder);
    if (found.isDirectory()) return await realpath(folder);
  } catch (error) {
    if (typeof readProperty(error, 'code') !== 'string') throw error;
    throw notAFolder(folder, 'it is not there, or may not be entered by you');
  }
  throw notAFolder(folder, 'it is no folder');
}

function notAFolder(folder: string, why: string): Error {
  return configError(`Cannot work in ${quote(folder)}: ${why}`, { hint: 'Type: --workspace <folder>' });
}

function defaultsFor({ config, state }: StateFolders, io: CliIo): readonly GivenValue[] {
  const values = {
    store: path.join(state, 'runs.db'),
    instructions: defaultInstructions,
    permissions: [],
    protect: [],
    sandbox: {},
    fetch: true,
    commands: config === undefined ? [] : path.join(config, 'commands'),
    tools: [],
  };
  return Object.entries(values).map(([name, value]) => ({
    path: name,
    value,
    from: 'default',
    folder: io.folder,
  }));
}

function wantedModel(
  merged: Merged,
): { readonly names: readonly string[]; readonly from: string } | undefined {
  const [given] = merged.get('model') ?? [];
  return given === undefined ? undefined : { names: asTexts(given.value), from: given.from };
}

function untrustedDotEnv({ command }: CliIo): string {
  return `.env was found and not read. If its keys are for this agent, look at it, then type: ${command} trust`;
}

/** The author of a file may have forgotten a variable. The author of a flag knows. */
function hiddenNotices(merged: Merged): readonly string[] {
  return [...merged.values()].flatMap(([first, second]) => {
    if (second === undefined || second.from === 'default' || joined.has(first.path)) return [];
    return first.from.startsWith('environment ')
      ? [`${first.from.slice('environment '.length)} hides ${first.path} of ${second.from}`]
      : [];
  });
}

/** Lists that no other file can shorten: a rule or a protection stays. */
const joined: ReadonlySet<string> = new Set(['permissions', 'protect']);

interface Found {
  readonly merged: Merged;
  readonly workspace: string;
  readonly model: ModelChoice;
  readonly notices: readonly string[];
  readonly io: CliIo;
  readonly commandFiles: Settings['commandFiles'];
}

function toSettings({ merged, workspace, model, notices, io, commandFiles }: Found): Settings {
  const first = (name: string): unknown => merged.get(name)?.[0].value;
  const all = (name: string): readonly unknown[] =>
    (merged.get(name) ?? []).flatMap(({ value }) => value as readonly unknown[]); // The table says that it is a list.
  return {
    workspace,
    models: model.models,
    modelLine: model.line,
    storeFile: pathsOf(merged, 'store', io)[0] ?? '',
    instructions: instructionsOf(merged),
    permissions: all('permissions') as readonly PermissionRule[], // Checked rule by rule.
    protect: all('protect').map(String),
    sandbox: toSandboxChoice(merged.get('sandbox')?.[0]),
    limits: limitsOf(merged),
    retry: first('retry') as RetryOption | undefined, // Checked by the table.
    explain: first('explain') as Settings['explain'], // As above.
    tools: first('tools') as readonly Tool[], // Checked one by one.
    canFetch: first('fetch') === true,
    commandFiles,
    commandFolders: pathsOf(merged, 'commands', io),
    notices: [...notices, ...model.notices],
    origins: originsOf(merged, model),
  };
}

/** Those of a file come after ours, which say how to work in a folder. */
function instructionsOf(merged: Merged): string {
  const [given] = merged.get('instructions') ?? [];
  return given === undefined || given.from === 'default'
    ? defaultInstructions
    : `${defaultInstructions}\n\n${String(given.value)}`;
}

function pathsOf(merged: Merged, name: string, io: CliIo): readonly string[] {
  const [given] = merged.get(name) ?? [];
  if (given === undefined) return [];
  return asTexts(given.value).map((text) => {
    if (isAddress(text)) return text;
    return text.startsWith('~/')
      ? path.join(requireHome(io), text.slice(2))
      : path.resolve(given.folder, text);
  });
}

function limitsOf(merged: Merged): Partial<RunLimits> {
  const given = [...merged].flatMap(([name, [{ value }]]) =>
    name.startsWith('limits.') ? [[name.slice('limits.'.length), value]] : [],
  );
  return Object.fromEntries(given) as Partial<RunLimits>; // Checked by the table.
}

function asTexts(value: unknown): readonly string[] {
  return typeof value === 'string' ? [value] : (value as readonly string[]); // The table allows nothing else.
}
