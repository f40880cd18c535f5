import { setTimeout as sleep } from 'node:timers/promises';
import { RerailError } from '../../errors/rerail-error.ts';
import { acquire, giveBack } from './connections.ts';
import type { Connection, Held } from './held.ts';
import { faultOf, isLate, toDoubt, toStorageError } from './storage-errors.ts';
import type { Fault } from './storage-errors.ts';

/** How a piece of work may be repeated. */
export interface Carrying {
  /**
   * Doing it again does no harm, also where the first time may have happened: it then finds out by itself. Where this is not so,
   * only what is known not to have happened is tried again.
   */
  readonly isRepeatable: boolean;
  /** It was sent before, and its result is unknown. */
  readonly isInDoubt?: boolean;
}

/**
 * Does a piece of work by a connection. This is the one place of the store that tries again: for at most `busyTimeoutMs`, where the
 * trouble may pass, and only what cannot be done twice by it.
 */
export async function carryOut<T>(
  held: Held,
  work: (connection: Connection) => Promise<T>,
  carrying: Carrying = { isRepeatable: true },
): Promise<T> {
  const deadlineMs = performance.now() + held.settings.busyTimeoutMs;
  const { isRepeatable } = carrying;
  let isInDoubt = carrying.isInDoubt ?? false;
  let told: Fault | undefined;
  for (let tries = 1; ; tries += 1) {
    // Bounded by the deadline and by the tries.
    const end = await attempt(held, work, deadlineMs);
    if (end.type === 'done') return end.value;
    if (end.type === 'shut') throw isInDoubt ? toDoubt(end.thrown) : end.thrown;
    const { fault } = end;
    // That the next attempt did not get through does not settle what became of this one.
    isInDoubt ||= fault.phase === 'in-doubt';
    const leftMs = deadlineMs - performance.now();
    const maySafely = !isInDoubt || isRepeatable;
    const isOver = leftMs <= 0 || tries >= maxTries || fault.trouble.mayPass !== true || held.isClosed;
    if (isOver || !maySafely) {
      // A connection that was not made in time says nothing: then what was said before counts.
      const last = isLate(fault) ? (told ?? fault) : fault;
      throw toStorageError({ ...last, phase: isInDoubt ? 'in-doubt' : fault.phase }, held.settings.name);
    }
    if (!isLate(fault)) told = fault;
    await sleep(Math.min(leftMs, delayMs(tries)));
  }
}

const maxTries = 100;
const firstDelayMs = 10;
const maxDelayMs = 500;

/** Apart from each other, for those who met in a conflict would meet again. */
function delayMs(tries: number): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2);
}

type End<T> =
  | { readonly type: 'done'; readonly value: T }
  | { readonly type: 'failed'; readonly fault: Fault }
  /** No connection is to be had, for a reason of our own. */
  | { readonly type: 'shut'; readonly thrown: RerailError };

async function attempt<T>(
  held: Held,
  work: (connection: Connection) => Promise<T>,
  deadlineMs: number,
): Promise<End<T>> {
  let connection: Connection;
  try {
    connection = await acquire(held, deadlineMs);
  } catch (thrown) {
    if (RerailError.isInstance(thrown)) return { type: 'shut', thrown };
    const fault = faultOf(thrown, 'connecting');
    if (fault === undefined) throw thrown;
    return { type: 'failed', fault };
  }
  try {
    return { type: 'done', value: await work(connection) };
  } catch (thrown) {
    const fault = faultOf(thrown, connection.isInDoubt ? 'in-doubt' : 'undone');
    if (fault === undefined) throw thrown;
    connection.isBroken ||= fault.trouble.endsConnection === true;
    return { type: 'failed', fault };
  } finally {
    giveBack(connection);
  }
}
