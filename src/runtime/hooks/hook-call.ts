import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import type { HookContext } from '../../agent/hooks/hook.ts';
import { runOwned } from '../../model/stray-errors.ts';
import type { CodeOwner } from '../../model/stray-errors.ts';

/** How one call of a hook's function ended. */
export type HookCallEnd =
  | { readonly type: 'answered'; readonly answer: unknown }
  | { readonly type: 'threw'; readonly thrown: unknown }
  | { readonly type: 'timed-out' }
  | { readonly type: 'aborted' };

export interface HookCallOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether the process stays alive as long as it may take, which it does unless this is `false`. */
  readonly keepsProcess?: boolean;
  /** Answers for the errors that the function leaves to the process. */
  readonly owner: CodeOwner;
}

/**
 * Calls a hook's function and waits no longer than it may take. Never throws and never rejects; what comes after the end is
 * not heard. Without a promise in the answer there is none here either.
 */
export function callHook(
  handle: (context: HookContext) => unknown,
  options: HookCallOptions,
): HookCallEnd | Promise<HookCallEnd> {
  const waiting = createWaiting(options.owner);
  try {
    const answer = runOwned(options.owner, () => handle(waiting.context));
    return isPromiseLike(answer) ? waitFor(answer, waiting, options) : { type: 'answered', answer };
  } catch (thrown) {
    return { type: 'threw', thrown };
  }
}

interface Waiting {
  readonly context: HookContext;
  readonly giveUp: (reason: unknown) => void;
}

/** Few hooks look at their signal, so it is made for those that do. */
function createWaiting(owner: CodeOwner): Waiting {
  let controller: AbortController | undefined;
  let over: { readonly reason: unknown } | undefined;
  return {
    context: {
      get signal() {
        if (controller === undefined) {
          controller = new AbortController();
          if (over !== undefined) controller.abort(over.reason);
        }
        return controller.signal;
      },
    },
    giveUp: (reason) => {
      over = { reason };
      // Who listens is called here and now, and is the hook's code.
      if (controller !== undefined) runOwned(owner, () => controller?.abort(reason));
    },
  };
}

function waitFor(
  answer: PromiseLike<unknown>,
  waiting: Waiting,
  { clock, timeoutMs, signal, keepsProcess = true }: HookCallOptions,
): Promise<HookCallEnd> {
  return new Promise((resolve) => {
    const end = (ended: HookCallEnd): void => {
      cancelTimer();
      stopListening();
      resolve(ended);
    };
    const giveUp = (): void => {
      end({ type: 'timed-out' });
      waiting.giveUp(new DOMException(`The hook gave no answer within ${timeoutMs} ms`, 'TimeoutError'));
    };
    const cancelTimer = clock.after(timeoutMs, giveUp, { keepsProcess });
    let stopListening = (): void => undefined;
    stopListening = onAbort(signal, () => {
      end({ type: 'aborted' });
      waiting.giveUp(signal?.reason);
    });
    // Through a promise of ours, for a foreign `then` may throw, call back twice, or call back at once.
    void Promise.resolve(answer).then(
      (value) => end({ type: 'answered', answer: value }),
      (thrown: unknown) => end({ type: 'threw', thrown }),
    );
  });
}
