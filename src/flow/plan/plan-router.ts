import type { Severity } from '../../errors/codes.ts';

/** Where a failed step leads to. */
type Route = 'replan' | 'reclassify' | 'fail';

/** Severity is the route. */
export const routes = {
  // The machine has retried it by the capability's own policy before this code learns of it.
  retriable: 'fail',
  replanning: 'replan',
  reclassification: 'reclassify',
  critical: 'fail',
  fatal: 'fail',
} as const satisfies Readonly<Record<Severity, Route>>;
