import { createAborter } from '../../base/abort.ts';
import type { Cancel } from '../../base/clock.ts';
import type { SendOptions } from './transport.ts';

/** Ends one attempt from outside: a signal that is made only where somebody asks for one. */
export interface Stop {
  readonly now: () => void;
  readonly listen: (listener: () => void) => Cancel;
  readonly signal: () => AbortSignal;
  readonly toSendOptions: (options: Omit<SendOptions, 'signal' | 'onStop'>) => SendOptions;
}

/** Nothing has stopped yet. */
export function createStop(): Stop {
  const { abort, listen, signal } = createAborter();
  const stop: Stop = {
    now: () => abort(),
    listen,
    signal,
    toSendOptions: ({ onConnected, onReconnected, maxBodyBytes }) => {
      const own = { stop, onStop: stop.listen, onConnected, onReconnected, maxBodyBytes };
      const options = { __proto__: lazySignal, ...own };
      return options as unknown as SendOptions; // The prototype brings the signal, which the compiler does not see.
    },
  };
  return stop;
}

// On a prototype that all calls share: a getter in a literal gives each object a shape of its own, which only a full
// collection frees, and with it everything the call has held.
const lazySignal = {
  get signal(): AbortSignal {
    return (this as unknown as { readonly stop: Stop }).stop.signal(); // Only ever used as the prototype above.
  },
};
