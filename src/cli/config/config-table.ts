// Table: every value that a configuration may hold, with its kind and its bounds.
import { unreachable } from '../../base/assert.ts';
import type { defaultLimits } from '../../agent/limits.ts';
import { sandboxLevels } from '../../tools/sandbox/sandbox.ts';

/** What a value must be. */
export type ValueKind =
  | { readonly type: 'text'; readonly maxLength: number }
  | { readonly type: 'address' }
  | { readonly type: 'texts'; readonly maxItems: number; readonly isListOnly?: true }
  | {
      readonly type: 'number';
      readonly from: number;
      readonly to?: number;
      readonly isWhole?: true;
      readonly mayBeInfinite?: true;
    }
  | { readonly type: 'flag' }
  | { readonly type: 'flag-or-text' }
  | { readonly type: 'word'; readonly words: readonly string[] }
  | { readonly type: 'rules' }
  | { readonly type: 'tools' };

/** A value, or values under a common name. `preset`: one word may stand for all of them. */
export type TableRow =
  | ValueKind
  | {
      readonly type: 'group';
      readonly rows: Readonly<Record<string, ValueKind>>;
      readonly preset?: readonly string[];
      readonly example: string;
    };

const longestMs = 366 * 24 * 3_600_000;
const maxNames = 1000;

const whole = { type: 'number', from: 1, isWhole: true } as const;
const wholeFromZero = { type: 'number', from: 0, isWhole: true } as const;
const countOrEndless = { ...whole, mayBeInfinite: true } as const;
const limitMs = { type: 'number', from: 1, to: longestMs } as const;
const delayMs = { type: 'number', from: 0, to: longestMs } as const;

/** The bounds are those of `resolveLimits`, which has the last word. */
const limitRows = {
  maxTurns: countOrEndless,
  maxTokens: countOrEndless,
  maxCostUsd: { type: 'number', from: Number.MIN_VALUE, mayBeInfinite: true },
  maxRequests: countOrEndless,
  maxToolCalls: { ...wholeFromZero, mayBeInfinite: true },
  timeoutMs: limitMs,
  modelTimeoutMs: limitMs,
  firstTokenMs: limitMs,
  maxCallsPerTurn: whole,
  maxConcurrentTools: whole,
  maxToolAttempts: whole,
  maxToolFailures: whole,
  maxFailedTurns: whole,
  maxReasks: wholeFromZero,
  maxNudges: wholeFromZero,
  maxContinuations: wholeFromZero,
  maxRejections: whole,
  approvalTimeoutMs: limitMs,
} as const satisfies Record<keyof typeof defaultLimits, ValueKind>;

/** By the name in the file. */
export const configTable: Readonly<Record<string, TableRow>> = {
  model: { type: 'texts', maxItems: 10 },
  baseURL: { type: 'address' },
  instructions: { type: 'text', maxLength: 100_000 },
  store: { type: 'text', maxLength: 4096 },
  permissions: { type: 'rules' },
  protect: { type: 'texts', maxItems: maxNames, isListOnly: true },
  sandbox: {
    type: 'group',
    rows: {
      min: { type: 'word', words: sandboxLevels.filter((level) => level !== 'off') },
      off: { type: 'flag-or-text' },
    },
    example: '{ "min": "contained" }',
  },
  limits: { type: 'group', rows: limitRows, example: '{ "maxTurns": 30 }' },
  retry: {
    type: 'group',
    rows: {
      maxAttempts: countOrEndless,
      maxQuickAttempts: countOrEndless,
      baseDelayMs: delayMs,
      quickDelayMs: delayMs,
      maxDelayMs: delayMs,
      jitter: { type: 'number', from: 0, to: 1 },
      minDelayMs: delayMs,
      maxWaitMs: delayMs,
      deadlineMs: limitMs,
    },
    preset: ['none', 'quick', 'standard', 'patient'],
    example: '"patient" or { "maxAttempts": 6 }',
  },
  explain: { type: 'word', words: ['auto', 'always', 'never'] },
  fetch: { type: 'flag' },
  commands: { type: 'texts', maxItems: 20 },
  tools: { type: 'tools' },
};

/** What a value of this kind is, in the words of a sentence that says `must be …`. */
export function expectedWords(kind: ValueKind): string {
  switch (kind.type) {
    case 'text':
      return `a text of 1 to ${kind.maxLength} characters`;
    case 'address':
      return 'an address such as "https://host/v1"';
    case 'texts':
      return kind.isListOnly === true ? 'a list of texts' : 'a text or a list of texts';
    case 'number':
      return numberWords(kind);
    case 'flag':
      return 'true or false';
    case 'flag-or-text':
      return 'true, false or a text that says why';
    case 'word':
      return orList(kind.words);
    case 'rules':
      return 'a list of rules, such as [{ "tool": "shell", "permission": "ask" }]';
    case 'tools':
      return 'a list of tools made by tool()';
    default:
      return unreachable(kind);
  }
}

/** `"a", "b" or "c"`. */
export function orList(words: readonly string[]): string {
  const quoted = words.map((word) => `"${word}"`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`;
}

function numberWords(kind: Extract<ValueKind, { type: 'number' }>): string {
  const what = kind.isWhole === true ? 'a whole number' : 'a number';
  const least = kind.from === Number.MIN_VALUE ? 'above 0' : `of at least ${kind.from}`;
  return kind.to === undefined ? `${what} ${least}` : `${what} from ${kind.from} to ${kind.to}`;
}
