import { appendOne, appendRow } from './append-statements.ts';
import { giveBack, takeIdle } from './connections.ts';
import type { Connection, Held } from './held.ts';
import { isSimple, planRemembered } from './plan-append.ts';
import type { Appending, Group } from './plan-append.ts';
import { change } from './query.ts';
import { faultOf } from './storage-errors.ts';

/** One addition on its way. */
export interface LoneAppend {
  readonly group: Group;
  readonly sent: Promise<LoneEnd>;
}

/**
 * - `refused`: it is known not to have been written, and the reason was not looked up.
 * - `in-doubt`: it may have been written. The next attempt of the same group finds out.
 */
export type LoneEnd = 'written' | 'refused' | 'in-doubt';

/**
 * Adds one event to a run that is remembered, by a connection that is open: what happens most, without anything that it does not need.
 * Nothing where it is not so simple. It never rejects: whatever goes wrong is found out by the long way, with the same group.
 */
export function appendLone(held: Held, appending: Appending): LoneAppend | undefined {
  const group = planRemembered(held, appending);
  if (group === undefined || !isSimple(group)) return undefined;
  const connection = takeIdle(held);
  return connection === undefined ? undefined : { group, sent: send(connection, group) };
}

async function send(connection: Connection, group: Group): Promise<LoneEnd> {
  const { statement, valuesOf } = group.changesRow ? appendRow : appendOne;
  try {
    return (await change(connection, statement, valuesOf(group))) > 0 ? 'written' : 'refused';
  } catch (thrown) {
    // Reported by the long way, where it happens again.
    const fault = faultOf(thrown, 'in-doubt');
    connection.isBroken ||= fault?.trouble.endsConnection !== undefined || fault === undefined;
    return fault?.phase === 'undone' ? 'refused' : 'in-doubt';
  } finally {
    giveBack(connection);
  }
}
