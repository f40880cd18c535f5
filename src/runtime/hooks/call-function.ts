import type { Clock } from '../../base/clock.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { ownerNamed, runOwned, warnProcess } from '../../model/stray-errors.ts';
import type { StrayErrors } from '../../model/stray-errors.ts';
import { runWithin } from '../tool-call/bounded-work.ts';

/** What a function of a flow is held to. */
export interface FunctionBounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly strayErrors: StrayErrors;
  /** Of the node; `defaultFunctionMs` unless it says otherwise. */
  readonly timeoutMs?: number | undefined;
}

/** How long a function of a flow may take over one answer. */
const defaultFunctionMs = 10_000;

/**
 * Calls a function that a flow was given, such as `"when" of the node "a"`. Throws what it throws, the signal's reason, or a
 * `RerailError` at its deadline. A promise only where it gives one.
 */
export function callFunction<Value>(
  who: string,
  call: () => Value | PromiseLike<Value>,
  { clock, signal, strayErrors, timeoutMs = defaultFunctionMs }: FunctionBounds,
): Value | Promise<Value> {
  const owner = ownerNamed(`The function ${who}`, { strayErrors, report: warnProcess });
  const nothing = (): undefined => undefined;
  const limits = { clock, signal, timeoutMs, onInterrupt: nothing, onLate: nothing };
  const end = runWithin(() => runOwned(owner, call), limits);
  const valueOf = (ended: Awaited<typeof end>): Value => {
    if (ended.type === 'returned') return ended.value;
    if (ended.type === 'threw') throw ended.thrown;
    if (ended.type === 'aborted') throw signal.reason;
    throw tooLate(who, timeoutMs);
  };
  return end instanceof Promise ? end.then(valueOf) : valueOf(end);
}

function tooLate(who: string, timeoutMs: number): RerailError {
  return RerailError.from(
    createFailure('TIMEOUT', {
      origin: 'flow',
      // It hangs, or is slow each time.
      retryable: false,
      message: `The function ${who} gave no answer within ${timeoutMs} ms`,
      hint: `Check what ${who} waits for; "timeoutMs" of the node gives it more time.`,
      context: { function: who, timeoutMs },
    }),
  );
}
