import { believable, parseDuration } from './duration.ts';
import { parseDate } from './header-date.ts';

/** A wait that a payload states in words, and where it was read. */
export interface WordDelay {
  readonly delayMs: number;
  readonly from: string;
}

/** Reads 'please try again in 1m47.5s', 'wait 30 seconds', 'resets at 2026-05-15T15:00:00Z', '请 30 秒后重试'. */
export function wordDelay(text: string, clock: number | undefined): WordDelay | undefined {
  const delayMs = fieldDelay(text) ?? askedDelay(text) ?? chineseDelay(text) ?? absoluteDelay(text, clock);
  return delayMs === undefined ? undefined : { delayMs, from: 'its words' };
}

// A field whose object was cut or garbled, or a header in a text: `estimated_time:300.9`, `retrydelay: 40s`.
const field =
  /\b(?:estimated_time|retrydelay|retry_delay|resets_in_seconds|retry[-_ ]after)(?:: ?|:? ?\{ ?seconds: ?)(\d{1,9}(?:\.\d{1,15})?) ?(ms)?/;

function fieldDelay(text: string): number | undefined {
  const match = field.exec(text);
  return match === null ? undefined : believable(Number(match[1]) * (match[2] === 'ms' ? 1 : 1000));
}

// What a client did or planned by itself is not what the provider asks for: 'will retry in 8 seconds', 'connection reset'.
const asking =
  /\b(?:try(?: your request)? again|(?<!will |we |auto |going to |about to )retry(?: your request)?|wait|(?<!connection )resets?|replenished|available(?: again)?|come back|back off|cool down|allowed)(?: again| after| in| for| at least| about| approximately| another| within){0,4} ~?(?=\d|an? |one )/g;

/** A wait that only holds once somebody has fixed something is none. */
const conditional =
  /\b(?:if you|once you|after (?:you|enabling|fixing|creating|updating|upgrading)|once approved|i will|next|do not|recently|just (?:enabled|verified|created)|within the last|fixed|fill(?:ed)? (?:in|out)|form)\b/;

/** Nor is a pace, or an age of the account. */
const otherwise = /^[\d.]+ ?\w+ (?:between|after (?:signing|you)|a day|of )/;

const maxAsks = 6;

function askedDelay(text: string): number | undefined {
  const asks = [...text.matchAll(asking)]
    .slice(0, maxAsks)
    .filter(
      (match) =>
        !conditional.test(sentenceBefore(text, match.index)) &&
        !otherwise.test(text.slice(match.index + match[0].length, match.index + match[0].length + 60)),
    );
  return asks
    .map((match) => parseDuration(text, match.index + match[0].length))
    .find((delayMs) => delayMs !== undefined);
}

function sentenceBefore(text: string, index: number): string {
  return (
    text
      .slice(Math.max(0, index - 120), index)
      .split(/[.!?;] /)
      .at(-1) ?? ''
  );
}

const chinese = /(\d{1,9}) ?(?:秒|分钟|小时)(?:钟)?(?:之?后|再)/;

function chineseDelay(text: string): number | undefined {
  const match = chinese.exec(text);
  return match === null ? undefined : parseDuration(text, match.index);
}

const absolute =
  /\b(?:try again|retry|resets?|available|until)(?: again| at| after| on| until){0,2} (\d{4}-\d{2}-\d{2}t[\d:.]{5,18}z)/;

/** A date means a wait only against a clock. */
function absoluteDelay(text: string, clock: number | undefined): number | undefined {
  const date = parseDate((absolute.exec(text)?.[1] ?? '').toUpperCase());
  return date === undefined || clock === undefined ? undefined : believable(date - clock);
}
