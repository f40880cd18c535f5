import type { RunLimits } from '../../agent/limits.ts';
import { isRecord } from '../../base/json.ts';
import type { Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { readInput } from '../classify/read-input.ts';
import { quote, usageError } from '../text/usage-error.ts';

/** What to do with a call that needs approval. */
export type OnApproval = 'ask' | 'deny' | 'suspend';

/** What was typed after `rerail run`, checked. */
export interface RunFlags {
  readonly limits: Partial<RunLimits>;
  readonly sessionId: string | undefined;
  readonly runId: string | undefined;
  readonly onApproval: OnApproval;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly schemaFile: string | undefined;
}

/** Reads the options of `run`. Throws a usage error for what makes no sense, before anything is done. */
export function readRunFlags({ flags }: Pick<Given, 'flags'>, io: CliIo): RunFlags {
  const { maxTurns, timeout, session, runId, onApproval, json, quiet, outputSchema } = flags;
  const isPerson = io.terminal !== undefined || (io.isTerminal.stdin && io.isTerminal.stderr);
  return {
    limits: {
      ...(maxTurns === undefined ? {} : { maxTurns: readCount('--max-turns', maxTurns) }),
      ...(timeout === undefined ? {} : { timeoutMs: readDuration('--timeout', timeout) }),
    },
    sessionId: readId('--session', session),
    runId: readId('--run-id', runId),
    onApproval: (onApproval as OnApproval | undefined) ?? (isPerson && json !== true ? 'ask' : 'deny'), // One of the choices.
    isJson: json === true,
    isQuiet: quiet === true,
    schemaFile: typeof outputSchema === 'string' ? outputSchema : undefined,
  };
}

/** A JSON Schema from a file. */
export async function readSchemaFile(file: string, io: CliIo): Promise<Readonly<Record<string, unknown>>> {
  const hint = 'Give a file that holds a JSON Schema: {"type":"object","properties":{…}}';
  const text = await readInput({ type: 'file', path: file }, io, { hint });
  try {
    const schema: unknown = JSON.parse(text);
    if (isRecord(schema)) return schema;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usageError({ message: `--output-schema ${quote(file)} is not JSON: ${why}`, hint });
  }
  throw usageError({ message: `--output-schema ${quote(file)} is no JSON object`, hint });
}

const maxTurnsTyped = 10_000;

function readCount(flag: string, given: unknown): number {
  const typed = textOf(given);
  const count = Number(typed);
  if (/^\d+$/.test(typed) && count >= 1 && count <= maxTurnsTyped) return count;
  throw usageError({
    message: `${flag} must be a whole number from 1 to ${maxTurnsTyped}, got ${quote(typed)}`,
    hint: `Type: ${flag} 20`,
  });
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const longestMs = 24 * 3_600_000;

/** `90s`, `10m`, `1h`, `500ms`; a bare number is seconds. */
function readDuration(flag: string, given: unknown): number {
  const typed = textOf(given);
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(typed);
  const durationMs = found === null ? Number.NaN : Number(found[1]) * (unitsMs[found[2] ?? 's'] ?? 0);
  if (durationMs >= 1 && durationMs <= longestMs) return Math.round(durationMs);
  throw usageError({
    message: `${flag} must be a time up to 24h, as 90s or 10m, got ${quote(typed)}`,
    hint: `Type: ${flag} 10m`,
  });
}

function readId(flag: string, typed: unknown): string | undefined {
  if (typed === undefined) return undefined;
  if (typeof typed === 'string' && typed !== '' && typed.length <= 200) return typed;
  throw usageError({
    message: `${flag} must be a name of 1 to 200 characters`,
    hint: `Type: ${flag} order-17`,
  });
}

function textOf(given: unknown): string {
  return typeof given === 'string' || typeof given === 'number' ? String(given) : '';
}
