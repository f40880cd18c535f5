import { headerRecord } from './observation.ts';
import type { Observation } from './observation.ts';
import { headerLine } from './parse-response.ts';
import { quote, usageError } from './usage-error.ts';

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

interface FlagRow {
  readonly flags: string;
  readonly description: string;
  readonly parse?: (value: string, previous: unknown) => unknown;
}

/** Every option with its text in `--help` and, where its value is more than a text, how that is read. */
export const classifyFlagRows: readonly FlagRow[] = [
  { flags: '--provider <name>', description: 'Who was called: openai, anthropic, gemini, groq …' },
  { flags: '--model <name>', description: 'The model that was asked for' },
  { flags: '--status <code>', description: 'The HTTP status of the answer', parse: parseStatus },
  {
    flags: '--header <line>',
    description: 'A header of the answer, "name: value"; may be repeated',
    parse: parseHeader,
  },
  { flags: '--body <text>', description: 'The body of the answer, or one event of a stream' },
  { flags: '--message <text>', description: 'The error text of an SDK; "; cause: " sets off its cause' },
  { flags: '--errno <code>', description: 'The error code of the system: ECONNREFUSED …' },
  {
    flags: '--now <date>',
    description: 'The time at which it was received; by default the clock',
    parse: parseNow,
  },
  { flags: '--file <path>', description: 'Read the response from a file; "-" is standard input' },
  { flags: '--json', description: 'Print one JSON object and nothing else' },
  { flags: '--exit-code', description: 'End with the exit code of the failure instead of 0' },
];

const names = new Set(classifyFlagRows.map(({ flags }) => flags.split(' ', 1)[0] ?? ''));

/** The value of an option. A value that is an option itself is one that was forgotten. */
export function readFlag({ flags, parse }: FlagRow): (value: string, previous: unknown) => unknown {
  const name = flags.split(' ', 1)[0] ?? '';
  return (value, previous) => {
    if (names.has(value) || value === '--help') {
      throw usageError({ message: `${name} needs a value, but ${value} follows it`, hint: `Type: ${flags}` });
    }
    return parse === undefined ? value : parse(value, previous);
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
function parseHeader(value: string, previous: unknown): readonly HeaderPair[] {
  const match = /[\r\n]/.test(value) ? null : headerLine.exec(value);
  const text = match?.[2]?.trim() ?? '';
  if (match === null || text === '') {
    throw usageError({
      message: '--header must be one line with a name, a colon and a value',
      hint: 'Type, with the quotes: --header "retry-after: 20"',
    });
  }
  const before = (previous ?? []) as readonly HeaderPair[]; // The parser hands back what this function returned.
  return [...before, [match[1] ?? '', text]];
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
