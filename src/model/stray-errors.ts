import { AsyncLocalStorage } from 'node:async_hooks';
import { causesOf } from '../errors/classify/causes.ts';
import { describeThrown } from '../errors/classify/safe-read.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure, FailureDetails } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';

// Errors that code of a user leaves to the process: a promise that rejects although nothing waits for it, a timer that throws.
// Node ends the process for them, and with it every run. Whose code it was is known by its async context; what comes from
// elsewhere is not touched, so that Node and the program treat it exactly as they would without Rerail.

/** Code of a user while it runs, and whatever it starts. */
export interface CodeOwner {
  /** Called with each error that it leaves to the process. Whether the process continues. Must not throw. */
  readonly onStray: (error: unknown) => StrayVerdict;
}

/** `taken`: it was reported, and the process continues. Or what to end the process with instead. */
export type StrayVerdict = 'taken' | { readonly endWith: Error };

/** What the policy says about such errors. */
export type StrayErrors = 'report' | 'end-process';

interface OwnerOptions {
  readonly strayErrors: StrayErrors;
  readonly report: (failure: Failure) => void;
  readonly details?: Pick<FailureDetails, 'origin' | 'context'>;
}

/** Code of a user by its name, such as `Tool "search"`: each error that it leaves behind is reported as a failure that names it. */
export function ownerNamed(who: string, { strayErrors, report, details }: OwnerOptions): CodeOwner {
  return {
    onStray: (error) => {
      const isTool = details?.origin === 'tool';
      const failure = createFailure(isTool ? 'TOOL_EXECUTION_ERROR' : 'HOOK_FAILED', {
        origin: isTool ? 'tool' : 'hook',
        ...details,
        message: `${who} threw an error that nothing caught: ${describeThrown(error)}`,
        hint: 'Await the promise or catch its error; handle errors in timers and in "error" events.',
        causes: causesOf(error),
      });
      report(failure);
      return strayErrors === 'report' ? 'taken' : { endWith: RerailError.from(failure, { cause: error }) };
    },
  };
}

/** Code of a user that no run is there to report for: a warning of Node names it. */
export function warningOwner(who: string): CodeOwner {
  return ownerNamed(who, { strayErrors: 'report', report: warnProcess });
}

/** Where no run is there to report it with: Node's own warnings. */
export function warnProcess({ message }: Failure): void {
  process.emitWarning(message, { type: 'RerailWarning', code: 'RERAIL_WARNING' });
}

/** Runs the code, and answers for the errors that it leaves to the process, also after it has returned. */
export function runOwned<Value>(owner: CodeOwner, code: () => Value): Value {
  watchProcess();
  return owners.run(owner, code);
}

const owners = new AsyncLocalStorage<CodeOwner | undefined>();
let isWatching = false;

/**
 * A monitor neither handles an error nor keeps Node from doing so: only where the error is ours is a handler put in place, for this one
 * error. Rejections come by here as well, unless the program has a handler of its own for them.
 */
function watchProcess(): void {
  // The sandbox of an engine has no process.
  if (typeof process === 'undefined') return;
  if (!isWatching) {
    isWatching = true;
    process.on('uncaughtExceptionMonitor', onUncaught);
  }
  const others = process.listenerCount('unhandledRejection');
  if (others > 0 && !process.listeners('unhandledRejection').includes(onRejection))
    process.on('unhandledRejection', onRejection);
}

function onUncaught(error: unknown): void {
  const owner = owners.getStore();
  // A program that captures everything keeps what it captures.
  if (owner === undefined || process.hasUncaughtExceptionCaptureCallback()) {
    owner?.onStray(error);
    return;
  }
  process.setUncaughtExceptionCaptureCallback(() => {
    process.setUncaughtExceptionCaptureCallback(null);
    const verdict = owner.onStray(error);
    if (verdict !== 'taken') endProcess(verdict.endWith);
  });
}

/** The program has a handler for rejections, which decides about the process. Ours only reports, and goes when it is the last. */
function onRejection(reason: unknown): void {
  const owner = owners.getStore();
  if (process.listenerCount('unhandledRejection') === 1) {
    process.off('unhandledRejection', onRejection);
    void Promise.reject(reason);
    return;
  }
  owner?.onStray(reason);
}

/** As any error that nothing catches, outside of what would claim it again. */
function endProcess(error: Error): void {
  owners.run(undefined, () => {
    queueMicrotask(() => {
      throw error;
    });
  });
}
