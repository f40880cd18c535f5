import { believable, parseDuration } from './duration.ts';
import { parseDate } from './header-date.ts';

/** A wait that a payload states in words, and where it was read. */
export interface WordDelay {
  readonly delayMs: number;
  readonly from: string;
}

/** Reads 'please try again in 1m47.5s', 'wait 30 seconds', 'resets at 2026-05-15T15:00:00Z', '请 30 秒后重试'. */
export function wordDelay(text: string, clock: number | undefined): WordDelay | undefined {
  const delayMs = fieldDelay(text) ?? askedDelay(text) ?? foreignDelay(text) ?? absoluteDelay(text, clock);
  return delayMs === undefined ? undefined : { delayMs, from: 'its words' };
}

// A field whose object was cut or garbled, or a header in a text: `estimated_time:300.9`, `retrydelay: 40s`, `retry_after=17`.
const field =
  /(?<![a-z])(?:estimated_time|(?:x-)?retry[-_ ]?(?:delay|after|in)(?:[-_ ]?(ms|millis\w{0,8}))?(?:[-_ ]?(?:in[-_ ])?se?c?(?:ond)?s?)?|resets?[-_]?(?:in|after)(?:[-_]?seconds)?|wait[-_]?(?:time|seconds|for)(?:[-_]?(?:seconds|s))?|cool[-_]?down(?:[-_]?seconds)?|back[-_]?off(?:[-_]?seconds)?)\)?(?: header)?(?: ?[:=]{1,2} ?| is |:? ?\{ ?seconds: ?)\(?(\d{1,9}(?:\.\d{1,15})?)(?![\d:.-]) ?(?:(ms|millis\w{0,8})|(minutes?|mins?|m)|(hours?|h)|s|secs?|seconds?)?(?![a-z])/;

function fieldDelay(text: string): number | undefined {
  const match = field.exec(text);
  if (match === null) return undefined;
  const [, inName, digits, ms, minutes, hours] = match;
  const unitMs = inName !== undefined || ms !== undefined ? 1 : unitOf(minutes, hours);
  return believable(Number(digits) * unitMs);
}

function unitOf(minutes: string | undefined, hours: string | undefined): number {
  if (minutes !== undefined) return 60_000;
  return hours === undefined ? 1000 : 3_600_000;
}

// What a client did or planned by itself is not what the provider asks for: 'will retry in 8 seconds', 'connection reset'.
const asking =
  /\b(?:try(?: your request)? again|(?<!will |we |auto |going to |about to )retry(?: your request)?|wait|(?<!connection )resets?|(?:replenish|refresh|renew|restor)(?:ed|es|s)?|(?:remaining|requested|cool-?down|(?<!retry )delay)(?: of)?|available(?: again)?|come back|back off|cool down|allowed)(?: again| after| in| for| at least| about| approximately| another| within){0,4}(?:[:=] ?| )~?(?=\d|an? |one )/g;

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

/** A number with a unit, in any of the languages. */
const foreignTime =
  /\d{1,9}(?:[.,]\d{1,6})? ?(?:毫秒|秒|分|小时|小時|時間|天|日|초|분|시간|일|ms|s|sek|sec|seg|min|stunde|heure|hora|ore|ora|h|tag|jour|d[ií]a|giorn|сек|мин|час|дн|день|saniye|dakika|saat|gün|uur|dag|godz)/g;

/** What shows that such a time is to be waited: behind it in Asia's languages and in Turkish, on either side in Europe's. */
const waitBehind =
  /^[\d.,]+ ?[^\d\s]{1,10}(?:(?:钟|鐘)?(?:之?后|之?後|再|以后)|(?:ほど|くらい)?(?: ?を)?(?:後|待|お待ち|経って|経過)| ?(?:후|뒤|동안|이후|기다)| (?:sonra|bekle|içinde|boyunca))/;
const waitAround =
  /等待|稍等|请等|お待ち|기다|подожд|повтор|попроб|снова|через|(?<![a-z])(?:wart|erneut|wieder|nochmal|später|attend|réessay|patient|de nouveau|esper[ea]|reint|int[ée]nt[ea]|de nuevo|vuelva|aguard|tent[ea](?![a-z])|novamente|riprov|tekrar|bekle|wacht|opnieuw|spróbuj|ponownie|poczekaj|vänta)/;
/** A pace or a limit is no wait: 'höchstens 60 Anfragen in 1 Minute', '1分钟内最多'. */
const pace =
  /(?:内|以内|あたり|당|per|pro|par|por|al|\/|в|на|za|maxim|máxim|höchst|limit|cada|chaque|jede|каждые) ?$/;

function foreignDelay(text: string): number | undefined {
  for (const match of [...text.matchAll(foreignTime)].slice(0, maxAsks)) {
    const [before, after] = [
      text.slice(Math.max(0, match.index - 60), match.index),
      text.slice(match.index, match.index + 60),
    ];
    const isWait =
      waitBehind.test(after) ||
      (!pace.test(before) && isEuropean(match[0]) && waitAround.test(before + after));
    const isAsked = isWait || /(?:等待|稍等|请等|等) ?$/.test(before);
    if (isAsked && !/^[\d.,]+ ?[^\d\s]{1,4}(?:内|以内)/.test(after)) return parseDuration(text, match.index);
  }
  return undefined;
}

function isEuropean(time: string): boolean {
  return time.charCodeAt(time.length - 1) < 0x2e80;
}

const absolute =
  /\b(?:try again|retry|resets?|available|until)(?: again| at| after| on| until){0,2} (\d{4}-\d{2}-\d{2}t[\d:.]{5,18}z)/;

/** A date means a wait only against a clock. */
function absoluteDelay(text: string, clock: number | undefined): number | undefined {
  const date = parseDate((absolute.exec(text)?.[1] ?? '').toUpperCase());
  return date === undefined || clock === undefined ? undefined : believable(date - clock);
}
