// The engine's own parser takes `abc 2099` for a date. Only the forms that HTTP and RFC 3339 allow are dates here.
const forms = [
  /^[A-Za-z]{3}, \d{1,2} [A-Za-z]{3} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC|\+0000)$/, // Sun, 06 Nov 1994 08:49:37 GMT
  /^[A-Za-z]{6,9}, \d{2}-[A-Za-z]{3}-\d{2} \d{2}:\d{2}:\d{2} GMT$/, // Sunday, 06-Nov-94 08:49:37 GMT
  /^[A-Za-z]{3} [A-Za-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/, // Sun Nov  6 08:49:37 1994
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})$/, // 2024-03-26T20:00:00Z
] as const;

/** A date in a header in milliseconds since the epoch, or `undefined` where it is none. */
export function parseDate(text: string): number | undefined {
  const date = text.trim().slice(0, 60);
  if (!forms.some((form) => form.test(date))) return undefined;
  // asctime names no zone and means GMT.
  const ms = Date.parse(
    /\d{4}$/.test(date) && !date.includes(',') && !date.includes('T') ? `${date} GMT` : date,
  );
  return Number.isNaN(ms) ? undefined : ms;
}
