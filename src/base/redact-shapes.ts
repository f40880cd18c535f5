import { isMark } from './redact-marks.ts';

/** Above this length a value is a secret whatever it looks like, so that judging a value costs a bounded time. */
export const maxJudgedCharacters = 200;

/** What stands where a secret belongs and is none: nothing, a mark, a mask, a variable, a word about the value. */
export function isNoSecret(value: string): boolean {
  if (value.length > maxJudgedCharacters) return false;
  return value === '' || isCommonWord(value) || isMark(value) || isMasked(value) || isPlaceholder(value);
}

/** A provider's own mask: `****abcd`, `sk-...abcd`, `sk-proj-********abcd`. It shows six characters of the end at most. */
function isMasked(value: string): boolean {
  return /^[\w-]{0,12}(?:\*{3,}|•{3,}|\.{3}|…)(?:[*•.]{0,60}\w{0,6}|REDACTED)$/.test(value);
}

/** What documentation and templates put where a secret belongs: `<token>`, `${TOKEN}`, `{{token}}`, `your-api-key`. */
export function isPlaceholder(value: string): boolean {
  return variable.test(value) || expression.test(value) || phrase.test(value) || /^(.)\1*$/.test(value);
}

const variable = /^(?:<[\w .-]*>?|\$[A-Z_]{2,40}|\$\{[^}]*\}?|\{\{[^}]*\}{0,2}|%[A-Z_]{2,40}%)$/;
const expression =
  /^(?:process\.env|os\.environ|os\.getenv|import\.meta|env|self|this|config|settings|options)\b[\w.]*$/;
const phrase =
  /^(?:(?:your|my|the|some|an?|dummy|fake|example|placeholder|test|sample)[-_ ](?:[a-z]{1,12}[-_ ]){0,3}(?:key|token|secret|password|credentials?|value)(?:[-_ ]here)?|your(?:api|secret|access)?(?:key|token|secret|password)(?:here)?|change[-_ ]?me)$/i;

/** Words about a value, and values so common that hiding them would only take them out of every other sentence. */
export function isCommonWord(value: string): boolean {
  return commonWords.has(value.toLowerCase());
}

const commonWords: ReadonlySet<string> = new Set(
  [
    'absent any authentication authorization await basic bearer bool boolean bytes cannot credential credentials',
    'denied disabled empty enabled error expected expired failed false forbidden function header headers hidden',
    'incorrect invalid is malformed mismatch missing must nil no none not null number object optional password',
    'passwords present provided redacted rejected required revoked secret secrets set should str string token tokens',
    'true type unauthorized undefined unexpected unknown unset unsupported valid value was were with wrong yes',
    'administrator anonymous anthropic assistant completion container database default development external google',
    'internal localhost mistral openai openrouter postgres postgresql production staging username 127.0.0.1',
    '12345678 123456789 1234567890 password1 password123 qwertyuiop',
  ].flatMap((line) => line.split(' ')),
);

/** Whether a value is a key or token rather than words: what machines make has no words in it. */
export function looksMachineMade(value: string): boolean {
  if (value.length < 10 || isMark(value)) return false;
  return value.length > maxJudgedCharacters || !isWordy(value);
}

/** Whether a value may be a password somebody typed, where a word of prose would stand as well. */
export function looksTyped(value: string): boolean {
  if (value.length > maxJudgedCharacters) return true;
  return value.length >= 4 && /[\d!@#$^*+=?]/.test(value);
}

/** `base64-encoded`, `AccessDenied`, `claude-sonnet-4-5-20250929`: words of some length, maybe numbered. */
function isWordy(value: string): boolean {
  const words = value.split(/[-_./:\\]+|(?<=[a-z])(?=[A-Z])/).filter((word) => word !== '');
  const characters = words.reduce((sum, word) => sum + word.length, 0);
  return (
    words.every((word) => /^(?:[A-Za-z]{1,24}\d{0,4}|\d{1,8})$/.test(word)) && characters >= words.length * 4
  );
}
