import type { RunConfig } from '../../agent/config.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { Family } from '../run/family.ts';
import type { LiveRun, RunBounds } from '../run/live-run.ts';

/** Under this key the options of a run say where it is below another one. Not for callers: it cannot be written by accident. */
export const childPlace: unique symbol = Symbol('the place of a child run');

/** Where a run is below another one. */
export interface ChildPlace {
  readonly bounds: RunBounds;
  readonly family: Family;
  readonly depth: number;
}

/** Options that may say where the run stands. */
export interface Placed {
  readonly [childPlace]?: ChildPlace;
}

/** The run stands there from now on. */
export function takePlace(live: LiveRun, options: Placed): void {
  const place = options[childPlace];
  if (place === undefined) return;
  live.bounds = place.bounds;
  live.family = place.family;
  live.depth = place.depth;
}

/** What the machine knows of the agent, with the bounds of this very run. */
export function configFor({ config }: AgentParts, bounds: RunBounds | undefined): RunConfig {
  if (bounds === undefined) return config;
  const { limits } = config;
  const least = (name: keyof RunBounds): number => Math.min(limits[name], bounds[name] ?? Infinity);
  return {
    ...config,
    limits: {
      ...limits,
      timeoutMs: least('timeoutMs'),
      maxTokens: least('maxTokens'),
      maxCostUsd: least('maxCostUsd'),
      maxRequests: least('maxRequests'),
    },
  };
}
