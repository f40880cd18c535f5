import { checkPermissionRules } from '../../agent/approval/check-permission-rules.ts';
import { unreachable } from '../../base/assert.ts';
import { isRecord } from '../../base/json.ts';
import { nearestNames } from '../../base/nearest.ts';
import { isSecretName } from '../../base/redact-names.ts';
import { redact } from '../../base/redact.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { isTool } from '../../model/define-tool.ts';
import { readBaseURL } from '../../providers/base-url.ts';
import { isAddress } from '../start/store-place.ts';
import { configTable, expectedWords, orList } from './config-table.ts';
import type { TableRow, ValueKind } from './config-table.ts';

/** What is wrong at one path of a configuration. */
export interface ValueProblem {
  /** `limits.maxTurns`, `permissions[2]`; empty for the whole. */
  readonly path: string;
  /** The whole sentence, the path in it, without a full stop. */
  readonly text: string;
}

/** Checks a configuration by the table, and finds everything that is wrong with it. */
export function checkConfig(config: unknown): readonly ValueProblem[] {
  if (!isRecord(config)) {
    return [
      {
        path: '',
        text: `A configuration must be an object, such as { "model": "anthropic:claude-sonnet-5" }, found ${found(config)}`,
      },
    ];
  }
  return Object.entries(config).flatMap(([name, value]) => {
    if (value === undefined || name === '$schema') return [];
    const row = Object.hasOwn(configTable, name) ? configTable[name] : undefined;
    if (row === undefined) return [unknownKey(name, { path: name, known: Object.keys(configTable) })];
    return checkRow(value, name, row);
  });
}

/** Checks one value that is in no file. There a database may have its password. */
export function checkValue(given: unknown, path: string): readonly ValueProblem[] {
  const value = path === 'store' && typeof given === 'string' && isAddress(given) ? redact(given) : given;
  const [name = '', inner] = path.split('.');
  const row = configTable[name];
  if (row === undefined) return [];
  if (inner === undefined || row.type !== 'group') return checkRow(value, path, row);
  const kind = row.rows[inner];
  return kind === undefined ? [] : checkRow(value, path, kind);
}

function checkRow(value: unknown, path: string, row: TableRow): readonly ValueProblem[] {
  if (row.type !== 'group') return checkKind(value, path, row);
  if (row.preset !== undefined && typeof value === 'string') {
    if (row.preset.includes(value)) return [];
    const [nearest] = nearestNames(value, row.preset);
    const advice = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
    return [wrong(path, `${orList(row.preset)}, or an object`, `${found(value)}${advice}`)];
  }
  if (!isRecord(value)) return [wrong(path, `such as ${row.example}`, found(value))];
  const inner = Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined) return [];
    const kind = Object.hasOwn(row.rows, name) ? row.rows[name] : undefined;
    const at = `${path}.${name}`;
    return kind === undefined
      ? [unknownKey(name, { path: at, known: Object.keys(row.rows) })]
      : checkKind(member, at, kind);
  });
  const isBoth = path === 'sandbox' && value['min'] !== undefined && isOff(value['off']);
  return isBoth ? [...inner, { path, text: 'sandbox has both "min" and "off": keep one of them' }] : inner;
}

function isOff(off: unknown): boolean {
  return off !== undefined && off !== false;
}

function checkKind(value: unknown, path: string, kind: ValueKind): readonly ValueProblem[] {
  if (kind.type === 'rules') return checkRules(value, path);
  if (kind.type === 'tools') return checkTools(value, path);
  if (kind.type === 'address') return checkAddress(value, path);
  if (kind.type === 'texts' && Array.isArray(value)) return checkTexts(value, path, kind.maxItems);
  if (!fits(value, kind)) return [wrong(path, expectedWords(kind), found(value))];
  return typeof value === 'string' ? checkSecret(value, path) : [];
}

function fits(value: unknown, kind: Exclude<ValueKind, { type: 'rules' | 'tools' | 'address' }>): boolean {
  switch (kind.type) {
    case 'text':
      return isText(value, kind.maxLength);
    case 'texts':
      return kind.isListOnly !== true && isText(value, maxTextLength);
    case 'number':
      return isNumber(value, kind);
    case 'flag':
      return typeof value === 'boolean';
    case 'flag-or-text':
      return typeof value === 'boolean' || isText(value, maxTextLength);
    case 'word':
      return typeof value === 'string' && kind.words.includes(value);
    default:
      return unreachable(kind);
  }
}

const maxTextLength = 4096;

function isText(value: unknown, maxLength: number): boolean {
  return (
    typeof value === 'string' && value.trim() !== '' && value.length <= maxLength && !value.includes('\0')
  );
}

function isNumber(value: unknown, kind: Extract<ValueKind, { type: 'number' }>): boolean {
  if (typeof value !== 'number' || Number.isNaN(value)) return false;
  if (value === Infinity) return kind.mayBeInfinite === true;
  if (value < kind.from || value > (kind.to ?? Number.MAX_SAFE_INTEGER)) return false;
  return kind.isWhole !== true || Number.isInteger(value);
}

function checkTexts(list: readonly unknown[], path: string, maxItems: number): readonly ValueProblem[] {
  if (list.length === 0 && path === 'model') return [wrong(path, 'at least one model', 'an empty list')];
  if (list.length > maxItems) return [wrong(path, `at most ${maxItems} entries`, String(list.length))];
  return list.flatMap((item, index) => {
    const at = `${path}[${index}]`;
    if (!isText(item, maxTextLength))
      return [wrong(at, `a text of 1 to ${maxTextLength} characters`, found(item))];
    return checkSecret(String(item), at);
  });
}

const maxRules = 1000;

/** Each rule by itself, so that every wrong one is named. */
function checkRules(value: unknown, path: string): readonly ValueProblem[] {
  if (!Array.isArray(value)) return [wrong(path, expectedWords({ type: 'rules' }), found(value))];
  if (value.length > maxRules) return [wrong(path, `at most ${maxRules} rules`, String(value.length))];
  return value.flatMap((rule: unknown, index) => {
    try {
      checkPermissionRules([rule]);
      return [];
    } catch (error) {
      if (!RerailError.isInstance(error)) throw error;
      const at = `${path}[${index}]`;
      return [{ path: at, text: error.message.replace('permissions[0]', at) }];
    }
  });
}

const maxTools = 200;

function checkTools(value: unknown, path: string): readonly ValueProblem[] {
  if (!Array.isArray(value)) return [wrong(path, expectedWords({ type: 'tools' }), found(value))];
  if (value.length > maxTools) return [wrong(path, `at most ${maxTools} tools`, String(value.length))];
  return value.flatMap((item: unknown, index) =>
    isTool(item) ? [] : [wrong(`${path}[${index}]`, 'a tool made by tool()', found(item))],
  );
}

/** All that can be said before it is known whose address it is, and whether a key goes there. */
function checkAddress(value: unknown, path: string): readonly ValueProblem[] {
  const rule = { provider: 'the provider', place: path, hasKey: false, allowInsecure: false };
  try {
    // What is no text is refused there, in the same words.
    return checkSecret(readBaseURL(value as string, { ...rule, isAlone: true }), path);
  } catch (error) {
    if (!RerailError.isInstance(error)) throw error;
    return [{ path, text: error.message }];
  }
}

/** Files are copied, committed and shown; keys must be in none of them. */
function checkSecret(text: string, path: string): readonly ValueProblem[] {
  if (redact(text) === text) return [];
  return [
    {
      path,
      text: `${path} holds what looks like a secret: take it out of the file and set it in the environment, as ${path === 'store' ? 'RERAIL_STORE' : 'ANTHROPIC_API_KEY'}`,
    },
  ];
}

interface KnownKeys {
  readonly path: string;
  readonly known: readonly string[];
}

function unknownKey(name: string, { path, known }: KnownKeys): ValueProblem {
  const shown = JSON.stringify(name.slice(0, maxShownCharacters));
  if (isSecretName(name)) {
    return {
      path,
      text: `${shown} is not known: keys do not belong in a configuration, set them in the environment, as ANTHROPIC_API_KEY`,
    };
  }
  const [nearest] = nearestNames(name, known);
  const advice = nearest === undefined ? `known are ${known.join(', ')}` : `did you mean "${nearest}"?`;
  return { path, text: `${shown} is not known; ${advice}` };
}

function wrong(path: string, expected: string, seen: string): ValueProblem {
  return { path, text: `${path} must be ${expected}, found ${seen}` };
}

const maxShownCharacters = 60;

function found(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') {
    const isLong = value.length > maxShownCharacters;
    return JSON.stringify(isLong ? `${value.slice(0, maxShownCharacters)}…` : value);
  }
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
