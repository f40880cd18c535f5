/** Durations as providers write them: `1m47.5854s`, `6ms`, `19h14m47s`, `2 hours`, `5 days 10 hours`, `45 seconds`. */

/** Units by length, in the languages that providers write: a stem stands for all its endings. */
const unitStems = {
  ms: [1, 'milliseconds?|millisekunden?|millisecondes?|milisegundos?|миллисекунд[аы]?|毫秒|ミリ秒|밀리초|ms'],
  s: [
    1000,
    'seconds?|secs?|sekunden?|secondes?|segundos?|seg|секунд[аыу]?|сек|secondi|secondo|saniye|seconden|sekund[ay]?|sekunder|秒钟|秒|초|s',
  ],
  m: [
    60_000,
    'minutes?|mins?|minuten?|minutos?|минут[аыу]?|мин|minuti|minuto|dakika|minuten|minut[ya]?|minuter|分钟|分鐘|分|분|m',
  ],
  h: [
    3_600_000,
    'hours?|hrs?|stunden?|heures?|horas?|час(?:ов|а)?|ore|ora|saat|uur|godzin[ay]?|timmar|小时|小時|時間|시간|h',
  ],
  d: [86_400_000, 'days?|tage?n?|jours?|d[ií]as?|дн(?:ей|я)|день|giorni|giorno|gün|dagen|dni|天|日|일|d'],
} as const satisfies Readonly<Record<string, readonly [ms: number, stems: string]>>;

const units = Object.values(unitStems);
const part = new RegExp(
  String.raw`(\d{1,12}(?:[.,]\d{1,15})?) ?(?:more )?(?:${units.map(([, stems]) => `(${stems})`).join('|')})(?![a-zа-яéíà-ü])[ ,]{0,2}(?:and |und |et |y |e |и )?`,
  'y',
);

/** The longest wait that is believed; a larger number is a mistake of whoever sent it. */
export const maxDelayMs = 1000 * 365.25 * 86_400_000;

/** Reads a duration with units from the start of a text; `undefined` where there is none. */
export function parseDuration(text: string, from = 0): number | undefined {
  const clock = parseClock(text, from);
  if (clock !== undefined) return believable(clock);
  const single = parseSingle(text, from);
  if (single !== undefined) return single;
  const { total, parts } = sumParts(text, from);
  return parts === 0 ? undefined : believable(total);
}

const single = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** 'in a minute', 'in one hour'. */
function parseSingle(text: string, from: number): number | undefined {
  const unit = /^(?:an?|one) (second|minute|hour|day)\b/.exec(text.slice(from, from + 12))?.[1];
  return unit === undefined ? undefined : single[unit as keyof typeof single]; // The pattern knows these four only.
}

// `2.03:00:05` is two days and three hours; Azure's API management writes it so.
const clockForm = /(?:(\d{1,4})\.)?(\d{1,3}):(\d{2}):(\d{2})(?![\d:])/y;

function parseClock(text: string, from: number): number | undefined {
  clockForm.lastIndex = from;
  const match = clockForm.exec(text);
  if (match === null) return undefined;
  const [days, hours, minutes, seconds] = match
    .slice(1)
    .map((digits: string | undefined) => Number(digits ?? 0));
  return (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60_000 + (seconds ?? 0) * 1000;
}

function sumParts(text: string, from: number): { readonly total: number; readonly parts: number } {
  let [total, parts] = [0, 0];
  part.lastIndex = from;
  for (let match = part.exec(text); match !== null && parts < 8; match = part.exec(text)) {
    const unit = match.slice(2).findIndex((stem: string | undefined) => stem !== undefined);
    total += Number((match[1] ?? '').replace(',', '.')) * (units[unit]?.[0] ?? 0);
    parts += 1;
  }
  return { total, parts };
}

/** A number of milliseconds that can be waited for: finite, not negative, not absurd. */
export function believable(ms: number): number | undefined {
  return Number.isFinite(ms) && ms >= 0 && ms <= maxDelayMs ? Math.ceil(ms) : undefined;
}

/** From here on a number of seconds is a date. */
export const epochSeconds = 1e9;
const epochMs = 1e12;

/** A bare number: of seconds, or, where it is that large, an epoch in seconds or milliseconds against a clock. */
export function numericDelay(value: number, clock: number | undefined): number | undefined {
  if (value < epochSeconds) return believable(value * 1000);
  if (clock === undefined) return undefined;
  return believable((value >= epochMs ? value : value * 1000) - clock);
}
