import { findAmbientProblems } from './ambient.ts';
import { findLayerProblems } from './layers.ts';
import { readModules } from './module.ts';
import type { Problem } from './problem.ts';
import { findCrowdedFolders } from './rooms.ts';
import { findShapeProblems } from './shape.ts';
import { findNameProblems, findTextProblems } from './text.ts';

/** What was found, and how much was looked at: no problems in nothing would be a false green. */
export interface TidyReport {
  readonly problems: readonly Problem[];
  readonly modules: number;
  readonly imports: number;
}

/** Checks the rules of the house over the texts of all files, by their paths from the root. */
export function checkTidy(files: ReadonlyMap<string, string>): TidyReport {
  const modules = readModules(files);
  return {
    problems: [
      ...modules.flatMap(findLayerProblems),
      ...modules.flatMap(findAmbientProblems),
      ...modules.flatMap(findShapeProblems),
      ...[...files.keys()].flatMap(findNameProblems),
      ...findCrowdedFolders(files.keys()),
      ...[...files].flatMap(([path, text]) => findTextProblems(path, text)),
    ],
    modules: modules.length,
    imports: modules.reduce((sum, module) => sum + module.imports.length, 0),
  };
}
