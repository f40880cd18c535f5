import { isLoopback } from '../../chaos/options.ts';
import type { ChaosServerOptions } from '../../chaos/options.ts';
import type { FaultSchedule } from '../../chaos/schedule.ts';
import { readFaultSpec } from '../../chaos/fault-spec.ts';
import { isRecord } from '../../base/json.ts';
import type { CliIo } from '../start/io.ts';
import { readInput } from '../classify/read-input.ts';
import { quote, usageError } from '../text/usage-error.ts';

/** The options of `rerail chaos serve`, as the parser of the command line hands them over. */
export interface ChaosFlags {
  readonly port?: string;
  readonly host?: string;
  readonly allowRemote?: true;
  readonly allowHost?: readonly string[];
  readonly seed?: string;
  readonly rate?: string;
  readonly faults?: string;
  readonly script?: string;
  readonly tls?: true;
  readonly json?: true;
}

/** What the flags ask the server for. Throws a usage error that names the flag. */
export async function chaosSettings(flags: ChaosFlags, io: CliIo): Promise<ChaosServerOptions> {
  const faults = await readFaults(flags, io);
  return {
    ...(flags.port === undefined
      ? {}
      : { port: readNumber('--port', flags.port, { least: 0, most: 65_535 }) }),
    ...(flags.host === undefined ? {} : { host: readHost(flags) }),
    ...(flags.allowRemote === true ? { allowRemote: true } : {}),
    ...(flags.allowHost === undefined ? {} : { allowedHosts: flags.allowHost }),
    ...(flags.seed === undefined
      ? {}
      : { seed: readNumber('--seed', flags.seed, { least: 0, most: 2 ** 31 }) }),
    ...(flags.tls === true ? { tls: true } : {}),
    ...(faults === undefined ? {} : { faults }),
  };
}

interface Range {
  readonly least: number;
  readonly most: number;
}

function readNumber(flag: string, value: string, { least, most }: Range): number {
  const number = Number(value);
  if (/^\d{1,12}$/.test(value) && number >= least && number <= most) return number;
  throw usageError({
    message: `${flag} must be a whole number from ${least} to ${most}, got ${quote(value)}`,
    hint: `Type: ${flag} ${flag === '--port' ? 4000 : 7}`,
  });
}

function readHost({ host = '', allowRemote }: ChaosFlags): string {
  if (isLoopback(host) || allowRemote === true) return host;
  throw usageError({
    message: `--host ${quote(host)} can be reached by other machines`,
    hint: 'Leave it out, or add --allow-remote if that is meant',
  });
}

async function readFaults(flags: ChaosFlags, io: CliIo): Promise<FaultSchedule | undefined> {
  const { script, rate, faults } = flags;
  if (script !== undefined) {
    if (rate !== undefined || faults !== undefined) {
      throw usageError({
        message:
          '--script says everything about the faults, so that --rate and --faults cannot be given with it',
        hint: 'Type: rerail chaos serve --script faults.json',
      });
    }
    return readScript(script, io);
  }
  if (rate === undefined && faults === undefined) return undefined;
  const kinds = faults?.split(',').map((name) => readFaultSpec(name.trim()));
  // Faults without a rate are all to be seen.
  return { rate: rate === undefined ? 1 : readRate(rate), ...(kinds === undefined ? {} : { kinds }) };
}

function readRate(value: string): number {
  const rate = Number(value);
  if (/^\d*\.?\d+$/.test(value) && rate <= 1) return rate;
  throw usageError({ message: `--rate must be from 0 to 1, got ${quote(value)}`, hint: 'Type: --rate 0.3' });
}

async function readScript(path: string, io: CliIo): Promise<FaultSchedule> {
  const source = path === '-' ? ({ type: 'stdin' } as const) : ({ type: 'file', path } as const);
  const text = await readInput(source, io, { hint: 'Give a JSON file such as: ["overloaded", null]' });
  const script: unknown = parse(text, path);
  const schedule = Array.isArray(script) ? { script } : script;
  if (isRecord(schedule) && ('script' in schedule || 'rate' in schedule)) {
    return schedule as unknown as FaultSchedule; // The server checks every entry before it starts.
  }
  throw usageError({
    message: `The script ${quote(path)} must hold a list of faults`,
    hint: 'Write: ["overloaded", null, { "name": "rate-limit", "retryAfter": 3 }]',
  });
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError({
      // JSON.parse throws nothing but SyntaxError, whose text names the place.
      message: `The script ${quote(path)} is not JSON: ${(error as SyntaxError).message}`,
      hint: 'Write: ["overloaded", null, { "name": "rate-limit", "retryAfter": 3 }]',
    });
  }
}
