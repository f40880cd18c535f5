import type { Clock } from '../base/clock.ts';
import { isRecord } from '../base/json.ts';
import { systemClock } from '../base/system.ts';
import type { ChaosModel } from './answering.ts';
import { certificateKinds } from './certificate.ts';
import type { CertificateKind } from './certificate.ts';
import { chaosConfigError } from './config-error.ts';
import type { RecordedRequest } from './records.ts';
import type { FaultSchedule } from './schedule.ts';
import { checkOptions } from '../model/check/check-options.ts';

/** How `startChaosServer` is asked to misbehave. Everything is optional. */
export interface ChaosServerOptions {
  /** A free one by default. */
  readonly port?: number;
  /** `127.0.0.1` by default. Other machines are let in only with `allowRemote`. */
  readonly host?: string;
  readonly allowRemote?: boolean;
  /**
   * Names besides those of this machine by which it may be asked: a request whose `Host` is another gets 421, so that no web page
   * reaches it under a name of its own. With `allowRemote` every name is taken, unless some are listed here.
   */
  readonly allowedHosts?: readonly string[];
  /** `true` makes a self-signed certificate for localhost; `expired` and `wrong-name` make bad ones. */
  readonly tls?: boolean | CertificateKind | { readonly key: string; readonly cert: string };
  /** The same seed and the same requests give the same faults and the same answers. Default: 1. */
  readonly seed?: number;
  /** Which request gets which fault; a header `x-rerail-fault` wins over it. Default: none. */
  readonly faults?: FaultSchedule;
  /** What good answers say. Default: the built-in simulated mind. */
  readonly model?: ChaosModel;
  /** The wait before a good answer begins. */
  readonly latencyMs?: number;
  /** The wait between two events of a stream. */
  readonly chunkDelayMs?: number;
  /** How many characters an event of content carries. Default: 12. */
  readonly chunkCharacters?: number;
  /** How many requests are remembered. Default: 1000. */
  readonly maxRecords?: number;
  /** Hears every request when it is over. */
  readonly onRequest?: (request: RecordedRequest) => void;
  readonly clock?: Clock;
}

const optionNames = [
  'port',
  'host',
  'allowRemote',
  'allowedHosts',
  'tls',
  'seed',
  'faults',
  'model',
  'latencyMs',
  'chunkDelayMs',
  'chunkCharacters',
  'maxRecords',
  'onRequest',
  'clock',
] as const satisfies readonly (keyof ChaosServerOptions)[];

/** The options with their defaults. */
export interface Settings {
  readonly port: number;
  readonly host: string;
  /** Whether a request with this `Host` is answered. */
  readonly isAllowedHost: (host: string) => boolean;
  readonly tls: Exclude<ChaosServerOptions['tls'], undefined>;
  readonly seed: number;
  readonly faults: FaultSchedule | undefined;
  readonly model: ChaosModel | undefined;
  readonly latencyMs: number;
  readonly chunkDelayMs: number;
  readonly chunkCharacters: number;
  readonly maxRecords: number;
  readonly onRequest: ((request: RecordedRequest) => void) | undefined;
  readonly clock: Clock;
}

/** Fills in the defaults and refuses what cannot be meant, before anything is opened. */
export function readSettings(options: ChaosServerOptions): Settings {
  checkOptions({ of: 'startChaosServer()', rules: optionNames }, options);
  const { host = '127.0.0.1', port = 0, allowRemote = false } = options;
  if (!allowRemote && !isLoopback(host)) {
    throw chaosConfigError(
      `The chaos server would listen on "${host}", where other machines can reach it`,
      'Use 127.0.0.1, or set allowRemote: true if that is meant',
    );
  }
  checkTls(options.tls);
  checkModel(options.model);
  checkWhole('port', port, { least: 0, most: 65_535 });
  const settings: Settings = {
    port,
    host,
    isAllowedHost: hostCheck(options, host),
    tls: options.tls ?? false,
    seed: options.seed ?? 1,
    faults: options.faults,
    model: options.model,
    latencyMs: options.latencyMs ?? 0,
    chunkDelayMs: options.chunkDelayMs ?? 0,
    chunkCharacters: options.chunkCharacters ?? 12,
    maxRecords: options.maxRecords ?? 1000,
    onRequest: options.onRequest,
    clock: options.clock ?? systemClock,
  };
  checkWhole('seed', settings.seed, { least: Number.MIN_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER });
  checkWhole('chunkCharacters', settings.chunkCharacters, { least: 1, most: 1_000_000 });
  checkWhole('maxRecords', settings.maxRecords, { least: 0, most: 1_000_000 });
  checkWhole('latencyMs', settings.latencyMs, { least: 0, most: 3_600_000 });
  checkWhole('chunkDelayMs', settings.chunkDelayMs, { least: 0, most: 3_600_000 });
  return settings;
}

/** Whether only this machine can reach it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

const maxAllowedHosts = 100;

function hostCheck(
  { allowRemote = false, allowedHosts }: ChaosServerOptions,
  own: string,
): Settings['isAllowedHost'] {
  const names: unknown = allowedHosts ?? [];
  const isList = Array.isArray(names) && names.length <= maxAllowedHosts;
  if (
    !isList ||
    !names.every(
      (name) => typeof name === 'string' && /^[^\s/:]+$|^\[?[\da-f]*(?::[\da-f.]*){2,}\]?$/i.test(name),
    )
  ) {
    throw chaosConfigError(
      `The option allowedHosts of the chaos server must be a list of at most ${maxAllowedHosts} names without a port`,
      "Write allowedHosts: ['host.docker.internal']",
    );
  }
  const known = new Set([own, ...(allowedHosts ?? [])].map(nameIn));
  const isOpen = allowRemote && allowedHosts === undefined;
  return (host) => isOpen || known.has(nameIn(host)) || isLoopback(nameIn(host));
}

/** `[::1]:8080` is `::1`, `LOCALHOST.:80` is `localhost`. */
function nameIn(host: string): string {
  const name =
    /^\[([^\]]*)\]/.exec(host)?.[1] ??
    (/^[\da-f]*(?::[\da-f.]*){2,}$/i.test(host) ? host : host.replace(/:\d*$/, ''));
  return name.toLowerCase().replace(/\.$/, '');
}

function checkTls(tls: unknown): void {
  if (tls === undefined || typeof tls === 'boolean') return;
  if (typeof tls === 'string' && Object.hasOwn(certificateKinds, tls)) return;
  if (isRecord(tls) && [tls['key'], tls['cert']].every(isPem)) return;
  throw chaosConfigError(
    'The option tls of the chaos server must be true, "expired", "wrong-name", or a key and a certificate as PEM',
    'Give true for a self-signed certificate',
  );
}

function isPem(text: unknown): boolean {
  return typeof text === 'string' && text.includes('-----BEGIN ');
}

function checkModel(model: unknown): void {
  if (model === undefined || typeof model === 'function') return;
  if (isRecord(model) && Array.isArray(model['script'])) return;
  throw chaosConfigError(
    'The option model of the chaos server must be { script: […] } or a function of the request',
    "Write { script: ['Hello.'] }, or leave it out for the embedded model",
  );
}

function checkWhole(
  name: string,
  value: number,
  { least, most }: { readonly least: number; readonly most: number },
): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw chaosConfigError(
    `The option ${name} of the chaos server must be a whole number from ${least} to ${most}, got ${String(value)}`,
    `Give another ${name}, or leave it out`,
  );
}
