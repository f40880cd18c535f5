import { matchesGlob } from '../../base/glob.ts';
import { showPath, workspaceError } from './workspace-error.ts';
import type { Workspace } from './workspace.ts';

/** What no tool may change, in whatever folder it lies, with the reason. A path of two parts is a name in a folder. */
// prettier-ignore
export const protectedPaths = [
  { why: 'git runs and trusts what is in it',
    paths: ['.git', '.gitmodules', '.gitconfig', '.hg', '.svn'] },
  { why: 'it is the configuration of Rerail, which says what tools may do',
    paths: ['rerail.config.ts', 'rerail.config.mts', 'rerail.config.cts', 'rerail.config.js', 'rerail.config.mjs',
            'rerail.config.cjs', 'rerail.config.json', '.rerail'] },
  { why: 'it runs on a build server, with its rights',
    paths: ['.github/workflows', '.github/actions', '.gitea/workflows', '.forgejo/workflows', '.circleci',
            '.gitlab-ci.yml', '.gitlab-ci.yaml', '.travis.yml', '.drone.yml', '.cirrus.yml', '.appveyor.yml',
            'appveyor.yml', 'azure-pipelines.yml', 'bitbucket-pipelines.yml', 'jenkinsfile', '.buildkite',
            '.woodpecker', '.woodpecker.yml', '.teamcity'] },
  { why: 'git or a package manager runs it by itself',
    paths: ['.husky', '.githooks', '.pre-commit-config.yaml', 'lefthook.yml', '.lefthook.yml', '.npmrc', '.yarnrc',
            '.yarnrc.yml', '.pnpmfile.cjs', '.pypirc'] },
  { why: 'a shell runs it when it starts',
    paths: ['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc', '.zshenv',
            '.zprofile', '.zlogin', '.zlogout', '.cshrc', '.tcshrc', '.kshrc', '.login', '.inputrc', '.envrc',
            '.xprofile', '.xsession', '.pam_environment', '.config/fish'] },
  { why: 'other programs take rights or commands from it',
    paths: ['.ssh', '.gnupg', '.netrc', '.curlrc', '.wgetrc', '.mcp.json', '.vscode', '.idea', '.devcontainer'] },
] as const satisfies readonly { readonly why: string; readonly paths: readonly string[] }[];

/** Why a path may not be changed; nothing where it may. Holds for what lies in it too, and whether it is there or not. */
export function whyProtected(workspace: Workspace, path: string): string | undefined {
  const parts = path.split('/').map(fold);
  for (const [index, part] of parts.entries()) {
    const why = byName.get(part) ?? byName.get(`${part}/${parts[index + 1] ?? ''}`);
    if (why !== undefined) return why;
    // The short name that Windows gives to `.git`.
    if (/^git~\d+$/.test(part)) return protectedPaths[0].why;
  }
  const pattern = workspace.options.protect.find((glob) => matchesPath(parts, globParts(glob)));
  return pattern === undefined ? undefined : `this workspace protects ${showPath(pattern)}`;
}

/** Throws where a path may not be changed. */
export function refuseProtected(workspace: Workspace, path: string): void {
  const why = whyProtected(workspace, path);
  if (why === undefined) return;
  throw workspaceError(
    'PATH_OUTSIDE_WORKSPACE',
    `Cannot change ${showPath(path)}: it is protected, because ${why}`,
    {
      hint: 'It can be read, and a person can change it. Do without changing it, or ask.',
    },
  );
}

const byName: ReadonlyMap<string, string> = new Map(
  protectedPaths.flatMap(({ why, paths }) => paths.map((path) => [path, why] as const)),
);

/**
 * A name as the most forgiving file system reads it: letter case, composed and wide forms, characters that are drawn as nothing,
 * and dots and blanks at the end do not count there.
 */
function fold(part: string): string {
  return part
    .normalize('NFKD')
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Mn}]/gu, '')
    .toLowerCase()
    .replaceAll(/\p{Mn}/gu, '')
    .replace(/[. ]+$/, '');
}

function globParts(glob: string): readonly string[] {
  return glob.replace(/^\.\//, '').replace(/\/$/, '').split('/').map(fold);
}

/**
 * Whether the path, or a folder that it lies in, fits the pattern. The places in the pattern that each part can have reached
 * are carried along, so that no pattern makes it slow.
 */
function matchesPath(parts: readonly string[], glob: readonly string[]): boolean {
  let reached: ReadonlySet<number> = skipStars(new Set([0]), glob);
  for (const part of parts) {
    if (reached.has(glob.length)) return true;
    const next = new Set<number>();
    for (const place of reached) {
      const wanted = glob[place];
      if (wanted === '**') next.add(place);
      if (wanted !== undefined && wanted !== '**' && matchesGlob(part, wanted)) next.add(place + 1);
    }
    reached = skipStars(next, glob);
  }
  return reached.has(glob.length);
}

/** `**` may stand for nothing at all. */
function skipStars(places: ReadonlySet<number>, glob: readonly string[]): ReadonlySet<number> {
  const all = new Set(places);
  // A set tells what is added while it is walked.
  for (const place of all) if (glob[place] === '**') all.add(place + 1);
  return all;
}
