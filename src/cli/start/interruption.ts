import { systemSignals } from '../../base/system-signals.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

/** Does some work that Ctrl-C, or a polite end of the process, ends in order. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stopListening = systemSignals.listen(() => controller.abort(interruptedError()));
  try {
    return await work(controller.signal);
  } finally {
    stopListening();
  }
}

function interruptedError(): RerailError {
  const message = 'It was interrupted before it was done';
  return RerailError.from(createFailure('CANCELLED', { message, hint: 'No run was changed.' }));
}
