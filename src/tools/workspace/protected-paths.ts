import { matchesGlob } from '../../base/glob.ts';
import { showPath, workspaceError } from './workspace-error.ts';
import type { Workspace } from './workspace.ts';

/** What no tool may change, in whatever folder it lies, with the reason. A path of two parts is a name in a folder. */
// prettier-ignore
export const protectedPaths = [
  { why: 'git runs and trusts what is in it',
    paths: ['.git', '.gitmodules', '.gitconfig', '.lfsconfig', '.hg', '.hgrc', '.svn', '.jj'] },
  { why: 'it is Rerail itself, which runs outside of the sandbox',
    paths: ['node_modules/rerail', '.bin/rerail', '.bin/rerail.cmd', '.bin/rerail.ps1', '.bin/node', '.bin/node.exe',
            '.bin/node.cmd', '.bin/node.ps1', '.node_modules', '.node_libraries'] },
  { why: 'it is the configuration of Rerail, which says what tools may do',
    paths: ['rerail.config.ts', 'rerail.config.mts', 'rerail.config.cts', 'rerail.config.js', 'rerail.config.mjs',
            'rerail.config.cjs', 'rerail.config.json', '.rerail'] },
  { why: 'other agents and assistants obey it',
    paths: ['agents.md', 'agents.override.md', 'agent.md', '.agents', 'claude.md', 'claude.local.md', '.claude', '.claude.json',
            '.claude-plugin', 'gemini.md', '.gemini', '.codex', '.cursor', '.cursorrules', '.windsurf', '.windsurfrules',
            '.continue', '.continuerules', '.continuerc.json', '.cline', '.clinerules', '.roo', '.roorules', '.roomodes', '.kiro',
            '.junie', '.augment', '.augment-guidelines', '.amp', '.amazonq', '.opencode', 'opencode.json', 'opencode.jsonc',
            '.goosehints', '.trae', '.qwen', 'qwen.md', '.crush', 'crush.json', '.crush.json', '.aider.conf.yml', '.aiderrules',
            '.mcp.json', '.rules', '.github/copilot-instructions.md', '.github/instructions', '.github/prompts',
            '.github/chatmodes', '.github/agents', '.github/skills', '.github/hooks'] },
  { why: 'it runs on a build server, with its rights',
    paths: ['.github/workflows', '.github/actions', '.gitea/workflows', '.forgejo/workflows', '.circleci',
            '.gitlab-ci.yml', '.gitlab-ci.yaml', '.travis.yml', '.drone.yml', '.drone.star', '.cirrus.yml', '.cirrus.star',
            '.appveyor.yml', 'appveyor.yml', 'azure-pipelines.yml', 'azure-pipelines.yaml', '.azure-pipelines',
            'bitbucket-pipelines.yml', 'jenkinsfile', '.buildkite', '.woodpecker', '.woodpecker.yml', '.woodpecker.yaml',
            '.teamcity', '.semaphore', 'cloudbuild.yaml', 'cloudbuild.yml', 'buildspec.yml', '.tekton', '.builds', '.build.yml',
            'codemagic.yaml', 'bitrise.yml'] },
  { why: 'git or a package manager runs it by itself',
    paths: ['.husky', '.huskyrc', '.githooks', '.pre-commit-config.yaml', '.pre-commit-config.yml', 'lefthook.yml',
            'lefthook.yaml', 'lefthook.toml', 'lefthook.json', 'lefthook-local.yml', '.lefthook.yml', '.lefthook-local.yml',
            '.lefthook', '.overcommit.yml', '.npmrc', '.yarnrc', '.yarnrc.yml', '.yarn/releases', '.yarn/plugins', '.yarn/sdks',
            '.yarn/cache', '.yarn/unplugged', '.pnp.cjs', '.pnp.js', '.pnp.loader.mjs', '.pnp.data.json', '.pnpmfile.cjs',
            '.pnpmfile.mjs', 'pnpmfile.js', 'bunfig.toml', '.bunfig.toml', '.pypirc', 'pip.conf', '.pydistutils.cfg',
            'sitecustomize.py', 'usercustomize.py', '.cargo/config.toml', '.cargo/config', 'rust-toolchain',
            'rust-toolchain.toml', '.mvn', 'gradle/wrapper', '.bundle/config', '.gemrc', '.terraformrc'] },
  { why: 'a shell, a debugger or an interpreter runs it when it starts',
    paths: ['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc', '.zshenv',
            '.zprofile', '.zlogin', '.zlogout', '.cshrc', '.tcshrc', '.kshrc', '.login', '.inputrc', '.envrc', '.autoenv.zsh',
            '.mise.toml', 'mise.toml', '.mise', '.tool-versions', '.xprofile', '.xsession', '.pam_environment', '.config/fish',
            '.config/git', '.config/mise', '.config/autostart', '.config/systemd', '.config/environment.d', '.config/nvim',
            '.local/bin', '.gdbinit', '.lldbinit', '.pdbrc', '.irbrc', '.pryrc', '.rprofile', '.renviron', '.ghci',
            '.ocamlinit', '.octaverc', '.psqlrc', '.sqliterc', '.tmux.conf', '.screenrc'] },
  { why: 'an editor or a container tool obeys it when the folder is opened',
    paths: ['.vscode', '.idea', '.fleet', '.zed', '.devcontainer', '.devcontainer.json', '.gitpod.yml', '.replit', '.exrc',
            '.vimrc', '.nvimrc', '.nvim.lua', '.lvimrc', '.dir-locals.el', '.dir-locals-2.el'] },
  { why: 'other programs take rights or commands from it',
    paths: ['.ssh', '.gnupg', '.netrc', '.curlrc', '.wgetrc', '.my.cnf', '.aws', '.kube', '.docker/config.json',
            '.docker/cli-plugins'] },
] as const satisfies readonly { readonly why: string; readonly paths: readonly string[] }[];

/** The second parts of the paths of two parts that begin with a name: what in a folder of this name is protected. */
export function protectedWithin(name: string): readonly string[] {
  return withinFolder.get(fold(name)) ?? [];
}

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

/** Throws where a path may not be changed, by its name. */
export function refuseProtected(workspace: Workspace, path: string): void {
  const why = whyProtected(workspace, path);
  if (why !== undefined) throw protectedError(path, why);
}

/** Says that a path may not be changed, and what can be done. */
export function protectedError(path: string, why: string): Error {
  return workspaceError(
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

const withinFolder = new Map<string, readonly string[]>();
for (const path of byName.keys()) {
  const [folder = '', name] = path.split('/');
  if (name !== undefined) withinFolder.set(folder, [...(withinFolder.get(folder) ?? []), name]);
}

/**
 * A name as the most forgiving file system reads it: letter case, composed and wide forms, characters that are drawn as nothing,
 * and dots and blanks at the end do not count there.
 */
export function fold(part: string): string {
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
