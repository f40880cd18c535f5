/**
 * JSON that means something else once it is read: a number that no JavaScript number holds (`1e999`, a long account number), or
 * a member that is there twice. `JSON.parse` takes both without a word, and a person would then approve something else than
 * the model wrote, or than the tool gets.
 */

/** A spot of a JSON text that would not come back as it was written. */
interface InexactSpot {
  readonly type: 'number' | 'name';
  readonly start: number;
  readonly end: number;
  /** A sentence without its end. */
  readonly reason: string;
}

const maxShownCharacters = 40;
const token = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\],]/g;

/** Why a text of valid JSON cannot be read exactly: its first such spot. Nothing where it can. */
export function findInexact(json: string): string | undefined {
  return findSpots(json, 1)[0]?.reason;
}

function findSpots(json: string, maxSpots: number): readonly InexactSpot[] {
  const spots: InexactSpot[] = [];
  // The names of each object that is open; nothing for a list.
  const open: (Set<string> | undefined)[] = [];
  let isName = false;
  for (const { 0: text, index } of json.matchAll(token)) {
    const spot = { start: index, end: index + text.length };
    if (text === '{' || text === '[') open.push(text === '{' ? new Set() : undefined);
    else if (text === '}' || text === ']') open.pop();
    else if (text.startsWith('"')) {
      const names = isName ? open.at(-1) : undefined;
      const name = names === undefined ? '' : nameOf(text);
      if (names?.has(name) === true) spots.push({ ...spot, type: 'name', reason: twice(name) });
      names?.add(name);
    } else if (text !== ',' && !isExact(text)) spots.push({ ...spot, type: 'number', reason: lossy(text) });
    if (spots.length >= maxSpots) return spots;
    isName = text === '{' || (text === ',' && open.at(-1) !== undefined);
  }
  return spots;
}

function nameOf(text: string): string {
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1); // A text in quotes.
}

function twice(name: string): string {
  return `The member ${JSON.stringify(name.slice(0, maxShownCharacters))} is there twice; write it once`;
}

function lossy(text: string): string {
  return `The number ${text.slice(0, maxShownCharacters)} cannot be kept exactly; write it as a text in quotes, or write another number`;
}

/** Digits behind the point that a number cannot hold are rounded everywhere; whole digits and powers of ten must come back. */
function isExact(text: string): boolean {
  const value = Number(text);
  if (value === 0) return !/[1-9]/.test(text.replace(/[eE].*$/, ''));
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return true;
  return Number.isFinite(value) && digitsOf(text) === digitsOf(String(value));
}

function digitsOf(text: string): string {
  return text
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '');
}

// A character that is none: no meaningful text contains it.
const mark = '\uFFFF';
const maxSpots = 10_000;

/**
 * Reads JSON from a provider. What cannot be read exactly is kept as it was written until `writeExactly` writes it again, so that
 * the code that looks at the arguments of a call sees what the model wrote. Throws a `SyntaxError` as `JSON.parse` does.
 */
export function parseExactly(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (!mayHoldCall(json)) return value;
  const spots = findSpots(json, maxSpots);
  if (spots.length === 0) return value;
  if (json.includes(mark) || /\\uffff/i.test(json)) throw new SyntaxError(spots[0]?.reason);
  let marked = '';
  let from = 0;
  for (const [index, { type, start, end }] of spots.entries()) {
    const text = type === 'number' ? json.slice(start, end) : `${index}:${json.slice(start + 1, end - 1)}`;
    marked += `${json.slice(from, start)}"${mark}${text}"`;
    from = end;
  }
  return JSON.parse(marked + json.slice(from));
}

/** The other parts of an answer are read field by field; only arguments are passed on as they came. */
function mayHoldCall(json: string): boolean {
  return json.includes('"function') || json.includes('"tool_use"');
}

const markedName = /"\uFFFF\d+:/g;
const markedNumber = /"\uFFFF([^"]*)"/g;

/** Writes what `parseExactly` has read, as it was written. Gives nothing for what JSON does not have. */
export function writeExactly(value: unknown): string | undefined {
  // Gives nothing for `undefined` and functions, whatever its type says.
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined || !json.includes(mark)) return json;
  return json.replaceAll(markedName, '"').replaceAll(markedNumber, '$1');
}
