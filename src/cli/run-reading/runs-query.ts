import { defined } from '../../base/defined.ts';
import { nearestNames } from '../../base/nearest.ts';
import { failureCodes } from '../../errors/codes.ts';
import type { RunQuery, StoredStatus } from '../../model/store/store.ts';
import type { Given } from '../specs/command-spec.ts';
import { quote, usageError } from '../text/usage-error.ts';
import { flagText, flagTexts } from './given-text.ts';

/** What the flags of `rerail runs` ask for. Throws a usage error for what makes no sense. */
export function readRunQuery(flags: Given['flags'], nowMs: number): RunQuery {
  const since = flagText(flags, 'since');
  return defined({
    status: readStatuses(flagTexts(flags, 'status')),
    code: readCode(flagText(flags, 'code')),
    tool: flagText(flags, 'tool'),
    text: flagText(flags, 'text'),
    fromMs: since === undefined ? undefined : readSince(since, nowMs),
    below: readBelow(flags),
    limit: readLimit(flagText(flags, 'limit')),
    cursor: flagText(flags, 'page'),
  });
}

/** Child runs are parts of their parents: the list shows parents first. */
function readBelow(flags: Given['flags']): string | false | undefined {
  const typed = flagText(flags, 'below');
  if (typed !== undefined) return typed;
  return flags['all'] === true ? undefined : false;
}

const defaultLimit = 20;

const statuses = [
  'running',
  'suspended',
  'parked',
  'completed',
  'stopped',
  'cancelled',
  'failed',
] as const satisfies readonly StoredStatus[];

/** What people call them. */
const synonyms: Readonly<Record<string, StoredStatus>> = {
  waiting: 'suspended',
  interrupted: 'running',
  done: 'completed',
  canceled: 'cancelled',
};

function readStatuses(given: readonly string[]): readonly StoredStatus[] | undefined {
  if (given.length === 0) return undefined;
  const typed = given.flatMap((one) => one.split(','));
  return typed.map((word) => {
    const name = word.trim().toLowerCase();
    const found =
      statuses.find((one) => one === name) ?? (Object.hasOwn(synonyms, name) ? synonyms[name] : undefined);
    if (found !== undefined) return found;
    const [nearest = 'failed'] = nearestNames(name, statuses);
    throw usageError({
      message: `--status must be one of ${statuses.join(', ')}, got ${quote(word)}`,
      hint: `Type: --status ${nearest}`,
    });
  });
}

function readCode(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const code = given.trim().toUpperCase().replaceAll('-', '_');
  if (failureCodes.some((one) => one === code)) return code;
  const [nearest] = nearestNames(code, failureCodes);
  throw usageError({
    message: `There is no failure code ${quote(given)}`,
    hint: nearest === undefined ? 'docs/errors.md lists them' : `Type: --code ${nearest}`,
  });
}

const unitsMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `2h` before now, or a date. */
export function readSince(given: string, nowMs: number): number {
  const [, amount = '', unit = ''] = /^(\d{1,6})\s*([smhdw])$/.exec(given.trim().toLowerCase()) ?? [];
  if (amount !== '') return nowMs - Number(amount) * (unitsMs[unit] ?? 0);
  const date = /^\d{4}-\d{2}-\d{2}/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isFinite(date)) return date;
  throw usageError({
    message: `--since must be a time as 30m, 2h or 7d, or a date, got ${quote(given)}`,
    hint: 'Type: --since 2h',
  });
}

function readLimit(given: string | undefined): number {
  if (given === undefined) return defaultLimit;
  const limit = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (limit >= 1 && limit <= 1000) return limit;
  throw usageError({
    message: `--limit must be a number from 1 to 1000, got ${quote(given)}`,
    hint: 'Type: --limit 50',
  });
}
