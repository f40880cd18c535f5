import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { assert } from '../../base/assert.ts';
import { visible } from '../../base/printable.ts';
import { pathName } from '../workspace/path-name.ts';
import { fromSystem, showPath, workspaceError } from '../workspace/workspace-error.ts';
import { isInside } from './clean-environment.ts';
import type { Launch, Launcher } from './launch.ts';
import { changedOwnCode, lookAtOwnCode } from './own-code-state.ts';
import { limitsOf, runProcess } from './run-process.ts';
import { notStarted, said } from './sandbox-failure.ts';
import type { CommandResult, Sandbox, SandboxedCommand } from './sandbox.ts';

const maxNamed = 5;

/** What a sandbox is made of besides its launcher. */
export interface SandboxParts {
  readonly root: string;
  readonly clock: Clock;
  readonly reasons: readonly string[];
}

/** Makes a sandbox of a way to start commands. */
export function createSandbox(launcher: Launcher, { root, clock, reasons }: SandboxParts): Sandbox {
  const { level, label } = launcher;
  const changed: string[] = [];
  return Object.freeze({
    level,
    label,
    reasons: Object.freeze([...reasons]),
    run: (command: SandboxedCommand) => runWatched(launcher, command, { root, clock, reasons, changed }),
  });
}

interface Watched extends SandboxParts {
  /** Files of our own that a command has changed: from then on none runs, since the next process would run what it wrote. */
  readonly changed: string[];
}

async function runWatched(
  launcher: Launcher,
  command: SandboxedCommand,
  parts: Watched,
): Promise<CommandResult> {
  const { root, changed } = parts;
  if (changed.length > 0) throw notStarted(`${ownCodeChanged(changed)}. Install it again and start anew`);
  const before = await lookAtOwnCode(root);
  const result = await runCommand(launcher, command, parts);
  changed.push(...changedOwnCode(root, before, await lookAtOwnCode(root)));
  if (changed.length === 0) return result;
  return withNotes(result, [`${ownCodeChanged(changed)}. No further command runs; install it again`]);
}

function ownCodeChanged(changed: readonly string[]): string {
  const more = changed.length > maxNamed ? ` and ${changed.length - maxNamed} more` : '';
  const names = changed.slice(0, maxNamed).map(visible).join(', ') + more;
  return `A command has changed the program that runs it, which would then run outside of the sandbox: ${names}`;
}

async function runCommand(
  launcher: Launcher,
  command: SandboxedCommand,
  { root, clock }: SandboxParts,
): Promise<CommandResult> {
  const { timeoutMs } = command;
  assert(
    Number.isFinite(timeoutMs) && timeoutMs > 0,
    `A command needs a timeout in milliseconds, got ${timeoutMs}`,
  );
  const folder = await confineFolder(root, command.folder ?? '.');
  const launch = await launcher.prepare({ folder, limits: limitsOf(timeoutMs) }).catch((error: unknown) => {
    throw notStarted(error instanceof Error ? error.message : String(error));
  });
  const end = await runProcess(launch, command, clock).catch(async (error: unknown) => {
    // The first error is the one to tell.
    await finish(launch);
    throw error;
  });
  const notes = await finish(launch);
  return { ...withNotes(end, notes), level: launcher.level };
}

/** The command has run, and what it did is not undone by our failing to put things in order: that is told with its result. */
async function finish(launch: Launch): Promise<readonly string[]> {
  try {
    return await launch.finish();
  } catch (error) {
    const says = said(error instanceof Error ? error.message : String(error));
    return [`What the command left could not be looked at, and may be in protected places: ${says}`];
  }
}

/** The real path of a folder of the workspace. Throws where it is none, or leads out. */
async function confineFolder(root: string, folder: string): Promise<string> {
  const name = pathName(root, folder);
  try {
    const absolute = await realpath(path.join(root, name));
    if (!isInside(root, absolute)) {
      throw workspaceError(
        'PATH_OUTSIDE_WORKSPACE',
        `Cannot run in ${showPath(folder)}: it leads out of the workspace`,
      );
    }
    if (!(await stat(absolute)).isDirectory()) {
      throw workspaceError(
        'VALIDATION_ERROR',
        `Cannot run in ${showPath(folder)}: it is a file and not a folder`,
      );
    }
    return absolute;
  } catch (error) {
    throw fromSystem(error, folder);
  }
}

/** What we have to say goes to the model with what the command said on standard error. */
function withNotes<End extends Pick<CommandResult, 'stderr'>>(end: End, notes: readonly string[]): End {
  if (notes.length === 0) return end;
  const { text, ...counts } = end.stderr;
  const told = notes.map((note) => `[rerail] ${note}`).join('\n');
  const separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return { ...end, stderr: { ...counts, text: `${text}${separator}${told}\n` } };
}
