const maxShownCharacters = 70;

/** A name as a sentence quotes it, bounded. */
export function showName(name: string): string {
  return JSON.stringify(name.slice(0, maxShownCharacters));
}

/** What was handed in where something else was wanted, in the words of a sentence that ends with it. */
export function showValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') return `the text ${showName(value)}`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
