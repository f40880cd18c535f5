import type { Clock } from '../../base/clock.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { isConnection, reasonOf, refusalOf } from './database-troubles.ts';
import type { Mail } from './mail.ts';

/** What it takes to tell a database that is gone from one that is slow. */
export interface Watch {
  readonly clock: Clock;
  readonly mail: Mail;
  readonly requestTimeoutMs: number;
}

/** What is attempted, as the sentence "Cannot …" ends with it. */
export interface Deed {
  readonly words: string;
  /** What it is where the database answers, but not in time. */
  readonly lateCode?: 'TIMEOUT' | 'SIGNAL_TIMEOUT';
}

/** After so long, a person looks whether the database is there. */
const suspicionMs = 1000;

/**
 * Bounds what DBOS would try for ever: without a database it waits until there is one again. What is given up here may still
 * be done later, so every verb that goes through here can be repeated.
 */
export async function bounded<T>(watch: Watch, deed: Deed, work: () => Promise<T>): Promise<T> {
  const { clock, mail, requestTimeoutMs } = watch;
  const timers: (() => void)[] = [];
  const late = new Promise<never>((_, reject) => {
    const suspect = (): void => {
      mail.ping().catch((cause: unknown) => reject(unreachable(deed.words, cause)));
    };
    timers.push(clock.after(Math.min(suspicionMs, requestTimeoutMs), suspect));
    timers.push(clock.after(requestTimeoutMs, () => reject(tooLate(deed, requestTimeoutMs))));
  });
  try {
    return await Promise.race([work(), late]);
  } catch (error) {
    throw typed(deed.words, error);
  } finally {
    for (const stop of timers) stop();
  }
}

/** What DBOS could not be launched for: it wraps what its driver said, so the database is asked once more. */
export async function launchFailure(mail: Mail, error: unknown): Promise<RerailError> {
  try {
    await mail.ping();
  } catch (cause) {
    const hint = refusalOf(cause);
    if (hint !== undefined)
      return configError(`Cannot launch DBOS: its database refuses (${reasonOf(cause)})`, { hint });
    if (isConnection(cause)) return unreachable('launch DBOS', cause);
  }
  return typed('launch DBOS', error);
}

/** Whatever came from DBOS or from the driver, as a `DurableError` that says what could not be done. */
function typed(deed: string, error: unknown): RerailError {
  if (RerailError.isInstance(error)) return error;
  const failure = classifyFailure(error, 'durable');
  if (isConnection(error)) return unreachable(deed, error);
  return RerailError.from(
    createFailure(failure.code, {
      origin: 'durable',
      message: `Cannot ${deed}: ${failure.message}`,
      causes: failure.causes,
    }),
  );
}

function unreachable(deed: string, cause: unknown): RerailError {
  return RerailError.from(
    createFailure('NETWORK_ERROR', {
      origin: 'durable',
      message: `Cannot ${deed}: the database of DBOS does not answer (${reasonOf(cause)})`,
      hint: 'Runs pause until it is back, and then continue automatically. Check that Postgres runs and that `databaseUrl` is right.',
      causes: classifyFailure(cause, 'durable').causes,
    }),
  );
}

function tooLate({ words, lateCode = 'TIMEOUT' }: Deed, timeoutMs: number): RerailError {
  return RerailError.from(
    createFailure(lateCode, {
      origin: 'durable',
      message: `Cannot ${words}: DBOS did not answer within ${timeoutMs} ms; it may still do so`,
      hint: 'Ask again: nothing is done twice.',
    }),
  );
}

/** A value that is larger than is kept. */
export function tooLarge(what: string, bytes: number, maxBytes: number): Failure {
  return createFailure('HISTORY_LIMIT', {
    origin: 'durable',
    message: `${what} takes ${bytes} bytes as JSON, and at most ${maxBytes} are kept in the steps of DBOS`,
    hint: 'Pass large values by reference, or raise `maxValueBytes` of dbos().',
  });
}

/** Throws where a value is larger than is kept. */
export function checkSize(what: string, value: unknown, maxBytes: number): void {
  const bytes = bytesOf(value);
  if (bytes > maxBytes) throw RerailError.from(tooLarge(what, bytes, maxBytes));
}

/** What a value takes as JSON. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
