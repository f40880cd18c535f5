import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { loadPeer } from '../../base/load-peer.ts';
import { configError } from '../../errors/config-error.ts';

// What this engine uses of `@restatedev/restate-sdk`, so that neither the package nor its types are needed to compile.

/** A promise of Restate: what it came to is in its journal. */
export interface RestatePromise<T> extends PromiseLike<T> {
  readonly map: <U>(
    mapper: (value: T | undefined, failure: Error | undefined) => U,
  ) => RestatePromise<Awaited<U>>;
}

/** What a handler gets of a call that nothing waits for. */
export interface SentInvocation {
  readonly invocationId: PromiseLike<string>;
}

/** Something to call, by name; `key` where it is an object. */
export interface Address {
  readonly service: string;
  readonly method: string;
  readonly key?: string;
  readonly parameter: unknown;
  readonly inputSerde: unknown;
  readonly idempotencyKey?: string;
}

/** How values of the journal are read. */
interface Reading<T> {
  readonly deserialize: (bytes: Uint8Array) => T;
}

/** The context of a handler, as far as it is used here. */
export interface RestateContext {
  readonly run: <T>(
    name: string,
    action: () => Promise<unknown>,
    options: { readonly maxRetryAttempts: number; readonly serde: Reading<T> },
  ) => RestatePromise<T>;
  readonly sleep: (delayMs: number, name: string) => RestatePromise<void>;
  readonly awakeable: <T>(serde: Reading<T>) => { readonly id: string; readonly promise: RestatePromise<T> };
  readonly resolveAwakeable: (id: string, payload: unknown) => void;
  readonly cancel: (invocationId: string) => void;
  readonly genericSend: (address: Address) => SentInvocation;
  readonly request: () => { readonly id: string; readonly attemptCompletedSignal: AbortSignal };
  /** Not promised by the SDK: false while what happens has happened before. */
  readonly isProcessing?: () => boolean;
}

/** The context of a handler of an object. */
export interface RestateObjectContext extends RestateContext {
  readonly key: string;
  readonly get: <T>(name: string) => PromiseLike<T | null>;
  readonly set: (name: string, value: unknown) => void;
  readonly clear: (name: string) => void;
}

/** A handler for requests of HTTP. */
export type RequestHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

type Handler<C> = (context: C, input: never) => Promise<unknown>;

interface Definition<C> {
  readonly name: string;
  readonly handlers: Readonly<Record<string, Handler<C>>>;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** The module itself. */
export interface RestateSdk {
  readonly service: (definition: Definition<RestateContext>) => unknown;
  readonly object: (definition: Definition<RestateObjectContext>) => unknown;
  readonly handlers: {
    readonly object: {
      readonly shared: (handler: Handler<RestateObjectContext>) => Handler<RestateObjectContext>;
    };
    readonly handler: (
      options: Readonly<Record<string, unknown>>,
      handler: Handler<RestateContext>,
    ) => Handler<RestateContext>;
  };
  readonly createEndpointHandler: (options: {
    readonly services: readonly unknown[];
    readonly identityKeys?: readonly string[];
    readonly logger: (metadata: LogMetadata, ...words: readonly unknown[]) => void;
  }) => RequestHandler;
  readonly RestatePromise: {
    readonly race: <T>(promises: readonly RestatePromise<T>[]) => RestatePromise<T>;
  };
  readonly TerminalError: new (message: string, options?: { readonly errorCode?: number }) => Error;
  readonly CancelledError: new () => Error;
  readonly RetryableError: new (message: string, options: { readonly retryAfter: number }) => Error;
  readonly serde: { readonly json: unknown };
}

/** What the SDK says of a line that it logs. */
export interface LogMetadata {
  readonly level: string;
  readonly replaying: boolean;
}

const packageName = '@restatedev/restate-sdk';

/** The SDK, or a `ConfigError` that says what to install. */
export function loadSdk(given: unknown): RestateSdk {
  const peer = loadPeer(packageName, {
    given,
    install: `npm install ${packageName}@1.12.0 (on Node 22 and newer also later ones)`,
  });
  if (peer.type === 'missing') throw configError(`The engine "restate" cannot start: ${peer.message}`);
  const module = peer.module as Partial<RestateSdk>; // Seen below.
  const missing = needed.filter((name) => module[name] === undefined);
  if (missing.length > 0)
    throw configError(
      `The engine "restate" cannot use this ${packageName}: it has no ${missing.join(', ')}. Install 1.12.0 or a later 1.x`,
    );
  return module as RestateSdk;
}

const needed = [
  'service',
  'object',
  'handlers',
  'createEndpointHandler',
  'RestatePromise',
  'TerminalError',
  'CancelledError',
  'RetryableError',
  'serde',
] as const satisfies readonly (keyof RestateSdk)[];
