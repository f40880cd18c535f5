import path from 'node:path';
import type { CliIo } from '../io.ts';

/** Where the command line keeps what belongs to a person, by the rules that desktops have agreed on. */
export interface StateFolders {
  /** For what a person writes: `config.json`, `commands`. */
  readonly config: string;
  /** For what we write: `runs.db`, `trust.json`. */
  readonly state: string;
}

/** A relative path in these variables counts as none, as the rules have it: it would mean another folder in every folder. */
export function stateFolders({ env, home }: Pick<CliIo, 'env' | 'home'>): StateFolders {
  const folderOf = (variable: string, otherwise: readonly string[]): string => {
    const given = env[variable] ?? '';
    return path.join(path.isAbsolute(given) ? given : path.join(home, ...otherwise), 'rerail');
  };
  return {
    config: folderOf('XDG_CONFIG_HOME', ['.config']),
    state: folderOf('XDG_STATE_HOME', ['.local', 'state']),
  };
}
