import { isRecord } from '../../../base/json.ts';

/** The content of a file as a tool shows it: numbers before the lines, a heading and quotation in JSON are taken away. */
export function readListing(shown: string): string {
  const text = fieldOf(shown, ['content', 'text', 'body']) ?? shown;
  const lines = text.split('\n');
  const numbered = lines.map((line) => /^\s*(\d+)(?:\t| ?[|│→:] ?)(.*)$/.exec(line));
  const places = numbered.flatMap((found, place) => (found === null ? [] : [place]));
  const numbers = places.map((place) => Number(numbered[place]?.[1]));
  const isNumbered =
    numbers.length > 0 && numbers.every((number, index) => number === (numbers[0] ?? 0) + index);
  if (!isNumbered || places.length < lines.length * 0.5) return text;
  return places.map((place) => `${numbered[place]?.[2] ?? ''}\n`).join('');
}

/** What a command printed, and how it ended. */
export function readCommandOutput(shown: string): {
  readonly text: string;
  readonly exitCode: number | undefined;
} {
  const out = fieldOf(shown, ['stdout', 'output']);
  const err = fieldOf(shown, ['stderr']);
  const text = out === undefined && err === undefined ? shown : [out ?? '', err ?? ''].join('\n');
  const said = /\bexit(?:ed)?(?: with)?[ _]?(?:code|status)?["']?\s*[:=]?\s*(\d+)/i.exec(shown)?.[1];
  return { text, exitCode: said === undefined ? undefined : Number(said) };
}

/** The paths in a listing of files, one to a line. */
export function readPaths(shown: string): readonly string[] {
  return shown
    .split(/[\n,]/)
    .map((line) => /[\w@.][\w@./-]*\.\w+/.exec(line)?.[0] ?? '')
    .filter((path) => path !== '' && !path.includes('node_modules/'));
}

function fieldOf(shown: string, names: readonly string[]): string | undefined {
  if (!shown.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(shown);
    if (!isRecord(value)) return undefined;
    const found = names.map((name) => value[name]).find((field) => typeof field === 'string');
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined; // It only looks like JSON.
  }
}
