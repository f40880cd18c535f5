import type { Clock } from '../../base/clock.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { runWithin } from './bounded-work.ts';

const maxMs = 30_000;

/** Waits for a schema that takes its time. One that never comes to an end must not hold the run: it throws then. */
export async function awaitSchema<Value>(
  checking: Promise<Value>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Value> {
  const nothing = (): undefined => undefined;
  const end = await runWithin(() => checking, {
    clock,
    signal,
    timeoutMs: maxMs,
    onInterrupt: nothing,
    onLate: nothing,
  });
  if (end.type === 'returned') return end.value;
  if (end.type === 'threw') throw end.thrown;
  const isLate = end.type === 'timed-out';
  const message = isLate
    ? `A schema check did not end within ${maxMs} ms`
    : 'The run was cancelled over a schema';
  throw RerailError.from(
    createFailure(isLate ? 'TIMEOUT' : 'CANCELLED', { origin: 'agent', message, retryable: false }),
  );
}
