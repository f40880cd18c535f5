import type { Given } from '../specs/command-spec.ts';
import { headerRecord } from './observation.ts';
import type { Observation } from './observation.ts';
import { headerLine } from './parse-response.ts';
import { quote, usageError } from '../text/usage-error.ts';

/** The options of `rerail classify`, as the parser of the command line hands them over. */
export interface ClassifyFlags {
  readonly provider?: string;
  readonly model?: string;
  readonly status?: number;
  readonly header?: readonly HeaderPair[];
  readonly body?: string;
  readonly message?: string;
  readonly errno?: string;
  /** In milliseconds. */
  readonly now?: number;
  readonly file?: string;
  readonly json?: true;
  readonly exitCode?: true;
}

type HeaderPair = readonly [name: string, value: string];

/** What the flags say about the call itself. */
export function observationOf(flags: ClassifyFlags): Observation {
  const { provider, model, status, header, body, message, errno } = flags;
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(status === undefined ? {} : { status }),
    ...(header === undefined ? {} : { headers: headerRecord(header) }),
    ...(body === undefined ? {} : { body }),
    ...(message === undefined ? {} : { message }),
    ...(errno === undefined ? {} : { errno }),
  };
}

/** What was typed, each value read as what it means. */
export function readClassifyFlags(typed: Given['flags']): ClassifyFlags {
  const { status, header, now } = typed;
  return {
    ...typed,
    ...(typeof status === 'string' ? { status: parseStatus(status) } : {}),
    ...(Array.isArray(header) ? { header: header.map((line) => parseHeader(String(line))) } : {}),
    ...(typeof now === 'string' ? { now: parseNow(now) } : {}),
  };
}

function parseStatus(value: string): number {
  if (/^[1-9]\d\d$/.test(value)) return Number(value);
  throw usageError({
    message: `--status must be a number from 100 to 999, got ${quote(value)}`,
    hint: 'Type: --status 429',
  });
}

/** The value is never repeated: it may be a secret. */
function parseHeader(value: string): HeaderPair {
  const match = /[\r\n]/.test(value) ? null : headerLine.exec(value);
  const text = match?.[2]?.trim() ?? '';
  if (match === null || text === '') {
    throw usageError({
      message: '--header must be one line with a name, a colon and a value',
      hint: 'Type, with the quotes: --header "retry-after: 20"',
    });
  }
  return [match[1] ?? '', text];
}

const isoDate = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/i;

function parseNow(value: string): number {
  const time = isoDate.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw usageError({
    message: `--now must be a date as in ISO 8601, got ${quote(value)}`,
    hint: 'Type: --now 2026-01-31T03:00:00Z',
  });
}
