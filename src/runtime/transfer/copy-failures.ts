import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import type { Claimed, Store } from '../../model/store/store.ts';

// Why runs are not copied.

/** Source and target are one: nothing could be copied, and everything would be removed. */
export function sameStore(): RerailError {
  return configError('copyRuns() was given the same store twice', {
    hint: 'Nothing was removed. Name two different files or databases.',
  });
}

/** Another process runs it. */
export function carried(runId: string, { ownerId, untilMs }: Extract<Claimed, { type: 'held' }>): Failure {
  return createFailure('STORAGE_LOCKED', {
    origin: 'storage',
    message: `The run "${runId}" was not copied: "${ownerId}" is running it`,
    hint: 'Stop the process that runs it, or wait until it has ended, and copy again.',
    context: { runId, untilMs },
  });
}

/** It was removed meanwhile. */
export function gone(runId: string): Failure {
  return createFailure('STORAGE_NOT_FOUND', {
    origin: 'storage',
    message: `The run "${runId}" was removed while it was to be copied`,
    hint: 'Copy again.',
    context: { runId },
  });
}

/** It would continue at two places. */
export function unfinished(runId: string): Failure {
  return createFailure('INVALID_STATE', {
    origin: 'durable',
    message: `The run "${runId}" was not copied: it has not ended, and at two places it would do everything twice`,
    hint: 'Let it end, or move it: `copyRuns(from, to, { remove: true })`.',
    context: { runId },
  });
}

/** It is being moved to another store. */
export function onItsWay(runId: string, target: string): Failure {
  return createFailure('INVALID_STATE', {
    origin: 'durable',
    message: `The run "${runId}" is on its way to ${target}, and that copy was interrupted`,
    hint: 'Copy to that store again, and it ends there.',
    context: { runId, to: target },
  });
}

/** There is another run of its name. */
export function otherEvents({ name }: Store, runId: string): Failure {
  return createFailure('ALREADY_REGISTERED', {
    origin: 'registry',
    message: `The run "${runId}" was not copied: ${name} has a run of this name with other events`,
    hint: 'Neither was touched. Look at both; remove the one that is not wanted, and copy again.',
    context: { runId },
  });
}

/** It was resumed while it was copied. */
export function takenAway(runId: string): Failure {
  return createFailure('STORAGE_LOCKED', {
    origin: 'storage',
    message: `The run "${runId}" was copied and not removed: it was resumed here in the meantime`,
    hint: 'It is in two stores now. Look at both before you resume either.',
    context: { runId },
  });
}

/** What was written cannot be read. */
export function notTheSame({ name }: Store, runId: string): Failure {
  return createFailure('STORAGE_CORRUPT', {
    origin: 'storage',
    message: `The copy of the run "${runId}" in ${name} differs from what was written`,
    hint: 'Nothing was removed. Look at that store with a check.',
    context: { runId },
  });
}

/** Its conversation is another one there. */
export function otherMessages({ name }: Store, sessionId: string): Failure {
  return createFailure('ALREADY_REGISTERED', {
    origin: 'registry',
    message: `The conversation "${sessionId}" of this run is another one in ${name}`,
    hint: 'Neither was touched. Look at both; remove the one that is not wanted, and copy again.',
    context: { sessionId },
  });
}
