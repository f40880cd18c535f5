import { realpathSync } from 'node:fs';
import path from 'node:path';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { markJudged } from '../../model/judged-input.ts';
import type { Tool } from '../../model/tool.ts';
import type { Workspace } from './workspace.ts';

/** Lets rules about paths see where a path really leads: from the root, with every link followed. */
export function judgeByPlace(workspace: Workspace, tool: Tool): Tool {
  return markJudged(tool, (input) => {
    if (!isRecord(input)) return undefined;
    const { path: named, folder } = input as Readonly<Record<string, Json>>; // Arguments are JSON.
    const changed = Object.entries({ path: named, folder }).flatMap(([name, value]): [string, Json][] => {
      const place = placeOf(workspace.root, value);
      return place === undefined ? [] : [[name, place]];
    });
    return changed.length === 0 ? undefined : { ...input, ...Object.fromEntries(changed) };
  });
}

function placeOf(root: string, named: Json | undefined): string | undefined {
  if (typeof named !== 'string' || named === '' || named.includes('\0')) return undefined;
  try {
    const real = realPath(path.resolve(root, named));
    return path.relative(realpathSync(root), real).split(path.sep).join('/');
  } catch {
    return undefined; // What cannot be looked at is judged by its name, and the tool will say more.
  }
}

/** Of what is there; the rest of the name is what would be made. */
function realPath(named: string): string {
  const rest: string[] = [];
  for (let place = named; ; place = path.dirname(place)) {
    // Bounded: each round is one folder nearer to the root of the system, which is there.
    try {
      return path.join(realpathSync(place), ...rest);
    } catch (error) {
      if (path.dirname(place) === place) throw error;
      rest.unshift(path.basename(place));
    }
  }
}
