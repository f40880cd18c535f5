import type { Failure } from '../errors/failure.ts';
import type { Asked } from './call-failures.ts';

/** A model of a chain asked not to be called before. */
export interface AskedWait {
  /** Its index in the chain. */
  readonly target: number;
  /** On the watch of the call. */
  readonly untilMs: number;
  readonly failure: Failure;
}

interface Moment {
  readonly target: number;
  readonly elapsedMs: number;
}

/** What a model asked us to wait for, if that is not over. It may stand in the chain twice; what it asked for holds all the same. */
export function findAskedWait(
  waits: readonly AskedWait[],
  targets: readonly Asked[],
  { target, elapsedMs }: Moment,
): Failure | undefined {
  const wait = waits.find(
    (asked) => asked.untilMs > elapsedMs && isSame(targets[asked.target], targets[target]),
  );
  return wait?.failure;
}

function isSame(one: Asked | undefined, other: Asked | undefined): boolean {
  return one?.quotaKey === other?.quotaKey && one?.provider === other?.provider && one?.name === other?.name;
}
