import { defined } from '../../base/defined.ts';
import { configError } from '../../errors/config-error.ts';
import type { RequestHandler } from './sdk.ts';
import { checkOptions } from '../../model/check/check-options.ts';

/** What a Restate engine is made of. */
export interface RestateOptions {
  /** Where Restate takes requests: `http://localhost:8080`. */
  readonly ingressUrl: string;
  /** Where Restate is administered: `http://localhost:9070`. With it the engine registers itself, and ends runs whose program has changed. */
  readonly adminUrl?: string;
  /** How this process is reached by Restate. Without it the process only starts runs and asks for them; others carry them. */
  readonly serve?: ServeOptions;
  /** Sent with every request to Restate, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The public keys of the Restate that may call this process: `publickeyv1_…`. Without them every client that reaches the port may. */
  readonly identityKeys?: readonly string[];
  readonly limits?: Partial<RestateLimits>;
  /** What the SDK logs. Nothing is logged without it: Restate itself shows why an attempt failed. */
  readonly onLog?: (level: string, text: string) => void;
  /** The module `@restatedev/restate-sdk`, where it cannot be found at run time. */
  readonly sdk?: unknown;
}

/** A port of its own, or a server that is there already. */
export type ServeOptions = ServePort | ServeHandler;

/** Listens by itself. Agents that are given the same engine share the port. */
export interface ServePort {
  /** Keep it: runs are bound to the address under which they began. */
  readonly port: number;
  /** 127.0.0.1, unless said otherwise. */
  readonly host?: string;
  /** How Restate reaches this process, where that is another address: `http://worker.internal:9080`. */
  readonly url?: string;
}

/** Hands the requests over: to a server of HTTP/2, or of HTTP/1.1 behind something that speaks HTTP/2. */
export interface ServeHandler {
  /** Called once per agent. Requests whose path begins with `path` are for `handler`. */
  readonly mount: (handler: RequestHandler, path: string) => void | Promise<void>;
  readonly url: string;
}

/** The bounds of a Restate engine. */
export interface RestateLimits {
  /** Above the longest effect: after so long without a word Restate takes an attempt for dead, and another one begins beside it. */
  readonly abortTimeoutMs: number;
  /** A run that waits for longer is released from memory, and resumed when something comes. */
  readonly inactivityTimeoutMs: number;
  /** How long Restate keeps the journal of a generation that has ended. */
  readonly journalRetentionMs: number;
  /** Steps of one generation. */
  readonly maxSteps: number;
  /** All that one generation keeps. */
  readonly maxJournalBytes: number;
  /** One input, outcome, signal or result. */
  readonly maxValueBytes: number;
  /** Untaken ones per run. */
  readonly maxSignals: number;
  /** How long an effect in progress may take to tell what came of it, once its run is cancelled. */
  readonly cancelGraceMs: number;
  /** For one request to Restate. */
  readonly requestTimeoutMs: number;
  /** How long `signal` waits until a worker has taken it. */
  readonly signalTimeoutMs: number;
  /** How often the caller of a run that seems to live checks that Restate still runs it. */
  readonly lookEveryMs: number;
  /** How long `close` waits for requests that are under way. */
  readonly closeWaitMs: number;
}

const defaultLimits: RestateLimits = {
  abortTimeoutMs: 3_600_000,
  inactivityTimeoutMs: 60_000,
  journalRetentionMs: 86_400_000,
  maxSteps: 10_000,
  maxJournalBytes: 24 * 1024 * 1024,
  maxValueBytes: 8 * 1024 * 1024,
  maxSignals: 1000,
  cancelGraceMs: 1000,
  requestTimeoutMs: 30_000,
  signalTimeoutMs: 10_000,
  lookEveryMs: 5000,
  closeWaitMs: 2000,
};

/** The options with their defaults, and addresses without a slash at the end. */
export interface ResolvedOptions extends Omit<RestateOptions, 'limits'> {
  readonly limits: RestateLimits;
}

const optionNames = [
  'ingressUrl',
  'adminUrl',
  'serve',
  'headers',
  'identityKeys',
  'limits',
  'onLog',
  'sdk',
] as const satisfies readonly (keyof RestateOptions)[];

/** Throws a `ConfigError` for what makes no sense. */
export function resolveOptions(options: RestateOptions): ResolvedOptions {
  checkOptions({ of: 'restate()', rules: optionNames }, options);
  checkOptions({ of: '"limits" of restate()', rules: Object.keys(defaultLimits) }, options.limits ?? {});
  const limits: RestateLimits = { ...defaultLimits, ...defined(options.limits ?? {}) };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isFinite(value) || value <= 0)
      throw configError(`"${name}" of the engine "restate" must be a number above 0, got ${String(value)}`);
  }
  const { adminUrl, serve } = options;
  return {
    ...defined(options),
    ...(serve === undefined ? {} : { serve: readServe(serve) }),
    ingressUrl: readUrl('ingressUrl', options.ingressUrl),
    ...(adminUrl === undefined ? {} : { adminUrl: readUrl('adminUrl', adminUrl) }),
    limits,
  };
}

function readServe(serve: ServeOptions): ServeOptions {
  if ('mount' in serve) return { ...serve, url: readUrl('serve.url', serve.url) };
  const { port, url } = serve;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw configError(`"serve.port" of the engine "restate" must be a port, got ${String(port)}`);
  return url === undefined ? serve : { ...serve, url: readUrl('serve.url', url) };
}

function readUrl(name: string, given: unknown): string {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw configError(
      `"${name}" of the engine "restate" must be an address such as http://localhost:8080, got ${JSON.stringify(given)}`,
    );
  return url.href.replace(/\/+$/, '');
}
