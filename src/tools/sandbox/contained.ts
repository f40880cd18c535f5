import type { Clock } from '../../base/clock.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { bubblewrapArguments } from './bubblewrap-arguments.ts';
import type { Bubblewrap } from './find-bubblewrap.ts';
import { cleanEnvironment } from './clean-environment.ts';
import type { CommandPlace, Launch, Launcher } from './launch.ts';
import { labels } from './labels.ts';
import { findProtected, placeBounds } from './protected-places.ts';
import type { ProtectedPlaces } from './protected-places.ts';
import type { RunAs } from './run-as.ts';
import { seccompFilter } from './seccomp.ts';
import { setAsideNew } from './set-aside.ts';
import { holdsSystem, ownPrograms } from './system-folders.ts';

/** What containment rests on. */
export interface ContainedOptions {
  readonly bubblewrap: Bubblewrap;
  readonly runAs: RunAs;
  readonly clock: Clock;
}

/** A way to start commands in namespaces of their own, or why there is none. */
export function createContained(workspace: Workspace, options: ContainedOptions): Launcher | string {
  const filter = seccompFilter(process.arch, 'namespaced');
  if (holdsSystem(workspace.root))
    return 'the workspace holds folders of the system, so nothing could be kept out of it';
  if (filter === undefined) return `the system calls of ${process.arch} are not known to Rerail`;
  const environment = cleanEnvironment({
    home: '/tmp',
    temporary: '/tmp',
    programs: ownPrograms(),
  });
  const held: Held = { workspace, options, environment, filter };
  return { level: 'contained', label: labels.contained(), prepare: (place) => prepare(held, place) };
}

interface Held {
  readonly workspace: Workspace;
  readonly options: ContainedOptions;
  readonly environment: Readonly<Record<string, string>>;
  readonly filter: Uint8Array;
}

const tooMany =
  `this level holds what is protected read-only, and the workspace has more than ${placeBounds.names} names or ` +
  `${placeBounds.held} protected places, so some would be left open; remove what does not belong there`;

async function prepare(held: Held, place: CommandPlace): Promise<Launch> {
  const before = await findProtected(held.workspace);
  if (before.isCut || !before.canHoldAll) throw new Error(tooMany);
  const launch = toLaunch(held, place, before);
  return { ...launch, finish: () => finish(held, place, before) };
}

function toLaunch(
  { workspace, options, environment, filter }: Held,
  place: CommandPlace,
  places: ProtectedPlaces,
): Launch {
  const { bubblewrap, runAs } = options;
  const rest = bubblewrapArguments(workspace.root, {
    places,
    folder: place.folder,
    canDisableNamespaces: bubblewrap.canDisableNamespaces,
    isRoot: runAs.type === 'root',
  });
  return {
    wrapper: [bubblewrap.path, ...rest],
    environment,
    // Not the workspace: the folder in which the wrapper itself starts must be there for whomever it runs as.
    folder: '/',
    limits: place.limits,
    filter,
    isContained: true,
    finish: () => Promise.resolve([]),
    ...(runAs.type === 'owner' ? { user: { uid: runAs.uid, gid: runAs.gid } } : {}),
  };
}

/** Nothing of the command runs any more, so what is looked at now stays as it is. */
async function finish(held: Held, place: CommandPlace, before: ProtectedPlaces): Promise<readonly string[]> {
  // As they were before, so that what was added can be moved and what was there cannot.
  const launch = toLaunch(held, { ...place, folder: held.workspace.root }, before);
  return setAsideNew(held.workspace, { before, launch, clock: held.options.clock });
}
