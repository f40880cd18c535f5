import type { Cancel } from '../../base/clock.ts';

/**
 * How bytes get to a provider and back. A transport sends exactly one request, or several only to follow a redirect; it never
 * retries, and lets nothing but what the other side sent decide. Only where a connection that was kept turns out to be closed
 * before a single byte was answered, it sends the request once more on a new one, and says so.
 */
export interface Transport {
  /**
   * Resolves when status and headers are there. Rejects with whatever went wrong: an error of the system, or one of
   * `transport-fault.ts` where the transport itself refuses something. The signal ends it at any time, the body included.
   */
  readonly send: (request: TransportRequest, options: SendOptions) => Promise<TransportResponse>;
  /** Set where the connection cannot be seen: `onConnected` then comes at once, and the error itself says how far it came. */
  readonly hidesConnection?: true;
}

export interface TransportRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  /**
   * Says the same as the signal, for less: a signal that is listened to costs a fifth of a whole call. Calls the listener
   * at once where it is over, and returns how to stop listening. Where it is missing, the signal is listened to.
   */
  readonly onStop?: (listener: () => void) => Cancel;
  /** Called once, when the connection stands: from then on the other side may have acted. */
  readonly onConnected: () => void;
  /** Called where the request goes out again on a new connection, at most once. */
  readonly onReconnected?: () => void;
  /** The bound for the body, decompressed. */
  readonly maxBodyBytes?: number;
}

export interface TransportResponse {
  readonly status: number;
  /** Names in lower case; several values are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The bytes, decompressed and bounded, to be read once. Ends normally only where the other side ended it properly. A
   * chunk is valid until the next one is asked for.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * Lets go of the connection when the body is not wanted to its end. May be called at any time, and again. Where all has
   * arrived it returns a promise that is kept at once: whoever waits for it finds the connection free for the next call.
   */
  readonly discard: () => void | Promise<void>;
}

export const defaultMaxBodyBytes = 64 * 1024 * 1024;
