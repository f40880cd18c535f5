/** The formats that are looked at; every other one is a remark for the model and for people. All take linear time. */
export const formats: ReadonlyMap<
  string,
  { readonly isLegal: (text: string) => boolean; readonly example: string }
> = new Map([
  ['date', { isLegal: isDate, example: '2026-01-31' }],
  ['time', { isLegal: isTime, example: '13:45:00Z' }],
  ['date-time', { isLegal: isDateTime, example: '2026-01-31T13:45:00Z' }],
  ['email', { isLegal: isEmail, example: 'name@example.com' }],
  ['uuid', { isLegal: isUuid, example: '123e4567-e89b-12d3-a456-426614174000' }],
  ['uri', { isLegal: isUri, example: 'https://example.com/path' }],
  ['ipv4', { isLegal: isIpv4, example: '192.0.2.1' }],
]);

const dateForm = /^(\d{4})-(\d{2})-(\d{2})$/;

function isDate(text: string): boolean {
  const [, year, month, day] = (dateForm.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  // The day before the first of the next month is the last of this one; the year 2000 stands for those below 100.
  const lastDay = new Date(Date.UTC(year < 100 ? year + 2000 : year, month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDay;
}

const timeForm = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

function isTime(text: string): boolean {
  return timeForm.test(text);
}

function isDateTime(text: string): boolean {
  return /^[t ]$/i.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

const maxEmailCharacters = 320;

function isEmail(text: string): boolean {
  if (text.length > maxEmailCharacters) return false;
  const at = text.lastIndexOf('@');
  const [name, host] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  return name !== '' && !/\s/.test(name) && /^[^\s@.][^\s@]*$/.test(host) && !host.includes('..');
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function isUuid(text: string): boolean {
  return uuidForm.test(text);
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text);
}

function isIpv4(text: string): boolean {
  const parts = text.length > 15 ? [] : text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}
