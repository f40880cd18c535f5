import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { CommandRun } from '../../src/cli/specs/command-spec.ts';
import { loadSettings } from '../../src/cli/config/load-settings.ts';
import type { LoadOptions } from '../../src/cli/config/load-settings.ts';
import type { SettingFlags } from '../../src/cli/config/setting-flags.ts';
import type { Settings } from '../../src/cli/config/settings.ts';
import { findStateFolders } from '../../src/cli/config/state-folders.ts';
import { addTrust, readTrustList } from '../../src/cli/config/trust-list.ts';
import { readTrustable } from '../../src/cli/config/trustable-files.ts';
import type { CliIo } from '../../src/cli/start/io.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';

/** A person with a home folder and a workspace, on a disk of their own for one test. */
export interface ConfigWorld {
  readonly folder: string;
  readonly workspace: string;
  readonly home: string;
  readonly io: CliIo;
  /** What was written to standard output and error. */
  readonly out: () => string;
  readonly err: () => string;
  readonly write: (file: string, content: string | Uint8Array) => string;
  /** Trusts what is in the workspace now. */
  readonly trust: () => Promise<void>;
  readonly load: (flags?: SettingFlags, options?: LoadOptions) => Promise<Settings>;
  /** The message and the lines of all problems. */
  readonly refusal: (flags?: SettingFlags, options?: LoadOptions) => Promise<RefusedConfig>;
  readonly run: (
    command: CommandRun,
    flags?: Readonly<Record<string, unknown>>,
    args?: readonly string[],
  ) => Promise<number>;
}

export interface RefusedConfig {
  readonly code: string;
  readonly message: string;
  readonly problems: readonly string[];
}

export function createConfigWorld(given: Partial<CliIo> & { readonly typed?: string } = {}): ConfigWorld {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'rerail-config-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [out, err]: [string[], string[]] = [[], []];
  const { typed = '', ...rest } = given;
  const workspace = path.join(folder, 'shop');
  const home = path.join(folder, 'home');
  for (const each of [workspace, home]) mkdirSync(each);
  const io: CliIo = {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    stdin: async function* read() {
      yield Buffer.from(typed);
    },
    readFile: () => {
      throw new Error('not in these tests');
    },
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: undefined,
    env: {},
    now: () => Date.parse('2026-01-31T03:00:00Z'),
    folder: workspace,
    home,
    terminal: undefined,
    command: 'rerail',
    version: '1.2.3',
    ...rest,
  };
  const load = (flags: SettingFlags = {}, options: LoadOptions = {}): Promise<Settings> =>
    loadSettings(flags, io, { findLocal: () => Promise.resolve(undefined), ...options });
  return {
    folder,
    workspace,
    home,
    io,
    out: () => out.join(''),
    err: () => err.join(''),
    write: (file, content) => {
      const full = path.resolve(workspace, file);
      mkdirSync(path.dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    trust: async () => {
      const { files } = await readTrustable(workspace);
      await addTrust(
        await readTrustList(await findStateFolders(io)),
        files.map((file) => ({ path: file.path, sha256: file.sha256, atMs: 1 })),
      );
    },
    load,
    refusal: async (flags, options) => refusalOf(load(flags, options)),
    run: (command, flags = {}, args = []) => command({ args, flags }, io),
  };
}

/** What a promise was rejected with. Fails where it was not, or by something that is none of ours. */
export async function refusalOf(work: Promise<unknown>): Promise<RefusedConfig> {
  const thrown = await work.then(
    (value) => new Error(`It was not refused: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (!RerailError.isInstance(thrown)) throw thrown;
  const { problems } = thrown.failure.context;
  return {
    code: thrown.code,
    message: thrown.message,
    problems: Array.isArray(problems) ? problems.map(String) : [],
  };
}
