import { existsSync } from 'node:fs';
import { chown, mkdtemp, realpath, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { cleanEnvironment, isInside } from './clean-environment.ts';
import { labels } from './labels.ts';
import { helperCalls, landlockHelper, landlockRights } from './landlock-helper.ts';
import type { CommandPlace, Launch, Launcher } from './launch.ts';
import { nobody } from './run-as.ts';
import type { RunAs } from './run-as.ts';
import { runProcess } from './run-process.ts';
import { said } from './sandbox-failure.ts';
import { seccompFilter } from './seccomp.ts';
import { ownPrograms, systemPaths } from './system-folders.ts';
import type { SystemPath } from './system-folders.ts';

/** What restriction rests on. */
export interface RestrictedOptions {
  readonly runAs: RunAs;
  readonly clock: Clock;
}

const perlPlaces = ['/usr/bin/perl', '/bin/perl', '/usr/local/bin/perl'];
const clearTimeoutMs = 20_000;

/** A way to start commands under Landlock, or why there is none. */
export async function createRestricted(
  workspace: Workspace,
  options: RestrictedOptions,
): Promise<Launcher | string> {
  const perl = await findPerl(workspace.root);
  if (perl === undefined)
    return `Perl is needed to set Landlock up, and is not there (looked at ${perlPlaces.join(', ')})`;
  const filter = seccompFilter(process.arch, 'none');
  const calls = process.arch === 'x64' || process.arch === 'arm64' ? helperCalls[process.arch] : undefined;
  if (filter === undefined || calls === undefined)
    return `the system calls of ${process.arch} are not known to Rerail`;
  const numbers = [calls.prctl, calls.capset, calls.setgroups, calls.setresgid, calls.setresuid].join(',');
  const helper = [perl, '-e', landlockHelper, numbers, Buffer.from(filter).toString('hex')];
  const held: Held = { workspace, options, helper };
  return { level: 'restricted', label: labels.restricted(), prepare: (place) => prepare(held, place) };
}

interface Held {
  readonly workspace: Workspace;
  readonly options: RestrictedOptions;
  readonly helper: readonly string[];
}

async function findPerl(root: string): Promise<string | undefined> {
  const all = await Promise.all(perlPlaces.map((place) => realpath(place).catch(() => undefined)));
  return all.find((place) => place !== undefined && !isInside(root, place));
}

async function prepare(held: Held, place: CommandPlace): Promise<Launch> {
  const { runAs } = held.options;
  const temporary = await realpath(await mkdtemp(path.join(tmpdir(), 'rerail-command-')));
  if (runAs.type === 'owner') await chown(temporary, runAs.uid, runAs.gid);
  if (isNobody(runAs)) await chown(temporary, nobody, nobody);
  const launch = toLaunch(held, place, temporary);
  return { ...launch, finish: () => clear(held, launch, temporary) };
}

function toLaunch({ workspace, options, helper }: Held, place: CommandPlace, temporary: string): Launch {
  const { runAs } = options;
  const rules = [
    ...systemPaths().flatMap(systemRule),
    ...['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom']
      .filter(existsSync)
      .map(deviceRule),
    ...['/proc'].filter(existsSync).map((name) => rule(landlockRights.read, name)),
    rule(landlockRights.all, workspace.root),
    rule(landlockRights.all, temporary),
  ];
  return {
    wrapper: [...helper, isNobody(runAs) ? String(nobody) : 'keep', rules.join(',')],
    environment: cleanEnvironment({
      home: temporary,
      temporary,
      programs: ownPrograms(),
    }),
    folder: place.folder,
    limits: place.limits,
    isContained: false,
    finish: () => Promise.resolve([]),
    ...(runAs.type === 'owner' ? { user: { uid: runAs.uid, gid: runAs.gid } } : {}),
  };
}

function isNobody(runAs: RunAs): boolean {
  return runAs.type === 'root' && runAs.hasNobody;
}

function systemRule(found: SystemPath): readonly string[] {
  // Landlock follows the link to what is granted by its own name.
  if (found.type === 'link') return [];
  return [rule(found.type === 'folder' ? landlockRights.run : landlockRights.runFile, found.path)];
}

function deviceRule(name: string): string {
  return rule(landlockRights.readWriteFile, name);
}

function rule(rights: number, name: string): string {
  return `${rights}:${Buffer.from(name).toString('hex')}`;
}

/** Emptied with the rights of a command: a process that was left behind may have put a link into it. */
async function clear(held: Held, launch: Launch, temporary: string): Promise<readonly string[]> {
  // The folder itself cannot be removed by it; its names are not listed here, for there may be more than fit on a line.
  const command = 'chmod -Rf u+rwx "$TMPDIR"; rm -rf "$TMPDIR"';
  const signal = new AbortController().signal;
  try {
    await runProcess(
      { ...launch, folder: '/' },
      { command, timeoutMs: clearTimeoutMs, signal },
      held.options.clock,
    );
    await rmdir(temporary);
    return [];
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    return [`The command's folder for temporary files, ${temporary}, could not be removed: ${said(says)}`];
  }
}
