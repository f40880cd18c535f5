import type { Clock } from '../../base/clock.ts';
import { systemClock } from '../../base/system.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { createBare } from './bare.ts';
import { createContained } from './contained.ts';
import { createSandbox } from './create-sandbox.ts';
import { tryToEscape } from './escape-probe.ts';
import { findBubblewrap } from './find-bubblewrap.ts';
import type { Launcher } from './launch.ts';
import { createRestricted } from './restricted.ts';
import { whoRuns } from './run-as.ts';
import { notAvailable } from './sandbox-failure.ts';
import { sandboxLevels } from './sandbox.ts';
import type { Sandbox, SandboxLevel } from './sandbox.ts';

/** How the sandbox is looked for. */
export interface ProbeOptions {
  /** A bubblewrap elsewhere than where systems put it. Absolute; one that lies in the workspace is not used. */
  readonly bwrapPath?: string;
  /** The strongest level that is tried, so that the weaker ones can be had for a test. */
  readonly atMost?: Exclude<SandboxLevel, 'off'>;
  readonly clock?: Clock;
}

/**
 * Finds the strongest sandbox that this machine has for a workspace, by running a command in it that tries to get out. Throws
 * `SANDBOX_SETUP_FAILED` where that is less than the workspace demands.
 */
export async function probeSandbox(workspace: Workspace, options: ProbeOptions = {}): Promise<Sandbox> {
  const { min, off } = workspace.options.sandbox;
  const clock = options.clock ?? systemClock;
  const reasons: string[] = [];
  const launcher =
    off === undefined ? await findLauncher(workspace, { ...options, clock, reasons }) : createBare(workspace);
  const { level } = launcher;
  if (min !== undefined && sandboxLevels.indexOf(level) > sandboxLevels.indexOf(min)) {
    throw notAvailable(min, {
      found: level,
      reasons: off === undefined ? reasons : [`switched off by ${off}`],
    });
  }
  return createSandbox(launcher, { root: workspace.root, clock, reasons });
}

interface Finding extends ProbeOptions {
  readonly clock: Clock;
  readonly reasons: string[];
}

async function findLauncher(workspace: Workspace, finding: Finding): Promise<Launcher> {
  const { atMost = 'contained' } = finding;
  const tried = ladder.slice(ladder.findIndex(({ level }) => level === atMost));
  for (const { level, create } of atMost === 'bare' ? [] : tried) {
    const launcher = await create(workspace, finding);
    if (typeof launcher === 'string') {
      finding.reasons.push(`${level}: ${launcher}`);
      continue;
    }
    const problem = await tryToEscape(launcher, { root: workspace.root, clock: finding.clock });
    if (problem === undefined) return launcher;
    finding.reasons.push(`${level}: ${problem}`);
  }
  return createBare(workspace);
}

type Create = (workspace: Workspace, finding: Finding) => Promise<Launcher | string>;

const ladder: readonly { readonly level: SandboxLevel; readonly create: Create }[] = [
  { level: 'contained', create: tryContained },
  { level: 'restricted', create: tryRestricted },
];

async function tryContained(workspace: Workspace, { bwrapPath, clock }: Finding): Promise<Launcher | string> {
  if (process.platform !== 'linux') return `needs Linux, and this is ${process.platform}`;
  const bubblewrap = await findBubblewrap(workspace.root, bwrapPath === undefined ? undefined : [bwrapPath]);
  if (typeof bubblewrap === 'string') return bubblewrap;
  return createContained(workspace, { bubblewrap, clock, runAs: await whoRuns(workspace.root) });
}

async function tryRestricted(workspace: Workspace, { clock }: Finding): Promise<Launcher | string> {
  if (process.platform !== 'linux') return `needs Linux, and this is ${process.platform}`;
  return createRestricted(workspace, { clock, runAs: await whoRuns(workspace.root) });
}
