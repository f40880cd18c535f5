import path from 'node:path';
import { parseEnv } from 'node:util';
import { visible } from '../../base/printable.ts';
import type { CliIo } from '../start/io.ts';
import { readConfigFile } from './config-file.ts';
import type { ConfigFile } from './config-file.ts';
import type { ConfigProblem } from './config-problem.ts';
import { commandsFolder, findWorkspaceFiles, maxCommands } from './find-files.ts';
import type { GivenValue } from './given-value.ts';
import type { ImportOptions } from './import-config.ts';
import { addressVariables } from '../../providers/address-variables.ts';
import { readPackageDigests } from './package-digests.ts';
import { keyVariables } from './provider-keys.ts';
import { readFileBounded } from './read-file-bounded.ts';
import type { CommandFile } from './settings.ts';
import type { StateFolders } from './state-folders.ts';
import { decodeText, maxConfigBytes, readSourceGraph } from './source-graph.ts';
import { contentHash, readTrustList } from './trust-list.ts';
import type { TrustList } from './trust-list.ts';
import { judgeFiles, passedOverNotice } from './workspace-trust.ts';

/** The settings of a workspace, as far as a person has trusted them. */
export interface WorkspaceLayer {
  readonly values: readonly GivenValue[];
  readonly problems: readonly ConfigProblem[];
  readonly notices: readonly string[];
  /** Keys of providers from a trusted `.env`. */
  readonly dotEnv: Readonly<Record<string, string>>;
  /** There is one, and it is not trusted. */
  readonly hasUntrustedDotEnv: boolean;
  readonly commandFiles: readonly CommandFile[];
}

export interface LayerOptions extends ImportOptions {
  readonly workspace: string;
  readonly folders: StateFolders;
  readonly io: Pick<CliIo, 'folder' | 'command'>;
  /** A file that was named, which needs no other yes; or `none`. */
  readonly configFlag?: string | undefined;
}

interface Held extends LayerOptions {
  readonly trust: TrustList;
  readonly notices: string[];
}

/** Reads what a workspace brings along. Untrusted files are neither run nor read for values. */
export async function readWorkspaceLayer(options: LayerOptions): Promise<WorkspaceLayer> {
  const trust = await readTrustList(options.folders);
  const held: Held = { ...options, trust, notices: trust.notice === undefined ? [] : [trust.notice] };
  const files = await findWorkspaceFiles(options.workspace);
  const { values, problems } = await readConfig(held, files.configs);
  const dotEnv = files.environment === undefined ? {} : await readDotEnv(held, files.environment);
  const commandFiles = await readCommands(held, files.commands);
  return {
    values,
    problems,
    notices: held.notices,
    dotEnv: dotEnv ?? {},
    hasUntrustedDotEnv: dotEnv === undefined,
    commandFiles,
  };
}

const nothing: ConfigFile = { values: [], problems: [] };
const onlyProblem = (place: string, text: string): ConfigFile => ({
  values: [],
  problems: [{ place, text }],
});

async function readConfig(held: Held, found: readonly string[]): Promise<ConfigFile> {
  const { configFlag, io } = held;
  if (configFlag === 'none') return nothing;
  if (configFlag === undefined) return readFound(held, found);
  const shown = visible(configFlag);
  const graph = await readSourceGraph(path.resolve(io.folder, configFlag));
  if (graph.type === 'missing') {
    return onlyProblem(shown, 'is not there; --config needs the path of a file, or "none"');
  }
  if (graph.type === 'unreadable') return onlyProblem(shown, graph.why);
  return readConfigFile(graph.files, { ...held, shown });
}

/**
 * The first that was trusted. One that was put beside or below it since is passed over, and takes nothing away: the
 * trusted one may hold rules that forbid something.
 */
async function readFound(held: Held, found: readonly string[]): Promise<ConfigFile> {
  for (const [index, file] of found.entries()) {
    const shown = visible(path.relative(held.workspace, file));
    const graph = await readSourceGraph(file);
    if (graph.type === 'missing') continue;
    if (graph.type === 'unreadable') {
      const name = graph.path === file ? shown : visible(path.relative(held.workspace, graph.path));
      return onlyProblem(name, `${graph.why}; type --config none to continue without it`);
    }
    const digests = await readPackageDigests(graph.files);
    if (digests.type === 'unreadable') {
      const name = visible(path.relative(held.workspace, digests.path));
      return onlyProblem(name, `${digests.why}; type --config none to continue without ${shown}`);
    }
    const verdict = judgeFiles(held.trust, [...graph.files, ...digests.packages]);
    if (verdict === 'trusted') {
      const passedOver = found.slice(index + 1).filter((other) => path.dirname(other) === path.dirname(file));
      held.notices.push(
        ...passedOver.map(
          (other) => `${path.basename(other)} was passed over: ${shown} counts. Keep one of them`,
        ),
      );
      const hashedPackages = digests.packages.map((each) => each.path);
      return readConfigFile(graph.files, { ...held, shown, hashedPackages });
    }
    const danger = shown.endsWith('.json')
      ? 'choose models, rules and who is sent your keys'
      : 'run code here';
    // One line is enough: it leads to the others.
    if (index === 0 || verdict === 'changed') {
      held.notices.push(passedOverNotice(shown, { verdict, danger, command: held.io.command }));
    }
  }
  return nothing;
}

/** Nothing where it is not trusted. It is opened only where it was trusted once. */
async function readDotEnv(held: Held, file: string): Promise<Readonly<Record<string, string>> | undefined> {
  if (!held.trust.entries.some((entry) => entry.path === file)) return undefined;
  const read = await readFileBounded(file, maxConfigBytes);
  if (read.type !== 'read') return undefined;
  const verdict = judgeFiles(held.trust, [{ path: file, sha256: contentHash(read.bytes) }]);
  if (verdict !== 'trusted') return undefined;
  const given = Object.entries(parseEnv(decodeText(read.bytes) ?? ''));
  const keys = keyVariables();
  const unread = given.flatMap(([name]) => (!keys.has(name) && isOurs(name) ? [unreadNotice(name)] : []));
  held.notices.push(...unread.slice(0, maxUnread));
  return Object.fromEntries(
    given.flatMap(([name, value]) => (keys.has(name) && value !== undefined ? [[name, value]] : [])),
  );
}

const maxUnread = 20;

const addressNames: ReadonlySet<string> = new Set(
  Object.values(addressVariables).map(({ variable }) => variable),
);

/** Whether a user could expect it to apply here. */
function isOurs(name: string): boolean {
  return addressNames.has(name) || /^(?:RERAIL_|XDG_|NODE_|HOME$|(?:https?|all|no)_proxy$)/i.test(name);
}

/** The person who trusts an .env is shown its names only, so nothing in it may change what is allowed or which model is asked. */
function unreadNotice(name: string): string {
  return `${visible(name)} in .env was not read: of an .env only keys of providers are. Export it yourself, or write the setting in rerail.config.json`;
}

/** All of them or none. What is judged here is what is used later, never the file again. */
async function readCommands(held: Held, commands: readonly string[]): Promise<readonly CommandFile[]> {
  if (commands.length === 0) return [];
  // Trust in the first of them would be trust in any file put behind it.
  if (commands.length > maxCommands) {
    held.notices.push(`${commandsFolder} was not used: it has more than ${maxCommands} commands`);
    return [];
  }
  const files = await Promise.all(
    commands.map(async (file) => {
      const read = await readFileBounded(file, maxConfigBytes);
      return read.type === 'read'
        ? { path: file, bytes: read.bytes, sha256: contentHash(read.bytes) }
        : { path: file, bytes: new Uint8Array(), sha256: '' };
    }),
  );
  const verdict = judgeFiles(held.trust, files);
  if (verdict === 'trusted') return files;
  const { command } = held.io;
  held.notices.push(
    passedOverNotice(commandsFolder, { verdict, danger: 'tell the agent what to do', command }),
  );
  return [];
}
