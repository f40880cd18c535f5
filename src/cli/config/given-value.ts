import { configTable } from './config-table.ts';
import type { RerailConfig } from './define-config.ts';

/** A given value, checked, and where it came from. */
export interface GivenValue {
  /** `model`, `limits.maxTurns`. */
  readonly path: string;
  readonly value: unknown;
  /** `flag --model`, `rerail.config.json:4`, `environment RERAIL_MODEL`, `default`. */
  readonly from: string;
  /** Relative paths in the value begin here. */
  readonly folder: string;
}

/** Where the values of a file come from. */
export interface ValueSource {
  readonly placeOf: (path: string) => string;
  readonly folder: string;
}

/** These are judged as a whole: half a sandbox of one file and half of another would be what no file says. */
const wholeGroups: ReadonlySet<string> = new Set(['sandbox', 'retry']);

/** The values of a checked configuration one by one, so that another file can have a word on each. */
export function valuesOf(config: RerailConfig, { placeOf, folder }: ValueSource): readonly GivenValue[] {
  return Object.entries(config).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined || !Object.hasOwn(configTable, name)) return [];
    if (configTable[name]?.type !== 'group' || wholeGroups.has(name)) {
      return [{ path: name, value, from: placeOf(name), folder }];
    }
    return Object.entries(value as object) // The table says that it is a group, and it was checked.
      .filter(([, member]) => member !== undefined)
      .map(([inner, member]: [string, unknown]) => {
        const path = `${name}.${inner}`;
        return { path, value: member, from: placeOf(path), folder };
      });
  });
}

/** Who speaks, the strongest first. */
export interface Layers {
  readonly flags: readonly GivenValue[];
  readonly environment: readonly GivenValue[];
  readonly workspace: readonly GivenValue[];
  readonly user: readonly GivenValue[];
  readonly defaults: readonly GivenValue[];
}

/** What was given for a path, the strongest first; the first one counts, or all of them where lists are joined. */
export type Merged = ReadonlyMap<string, readonly [GivenValue, ...GivenValue[]]>;

/** Joins the layers value by value: flag before environment before workspace before user before default. */
export function mergeLayers({ flags, environment, workspace, user, defaults }: Layers): Merged {
  const merged = new Map<string, [GivenValue, ...GivenValue[]]>();
  for (const given of [...flags, ...environment, ...workspace, ...user, ...defaults]) {
    const others = merged.get(given.path);
    if (others === undefined) merged.set(given.path, [given]);
    else others.push(given);
  }
  return merged;
}
