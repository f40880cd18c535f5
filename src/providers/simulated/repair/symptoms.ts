import type { FailingTest } from './test-report.ts';

/** What a failing test shows, in the one word that tells most about the fault. */
export type Symptom =
  | 'promise'
  | 'undefined'
  | 'not-a-number'
  | 'truth'
  | 'number'
  | 'text'
  | 'list'
  | 'exception-missing'
  | 'unknown-name'
  | 'exception'
  | 'unclear';

/** Reads the symptom off what was expected, what came and what was said. */
export function symptomOf({ message, actual, expected }: FailingTest): Symptom {
  if (/Missing expected (?:exception|rejection)/.test(message)) return 'exception-missing';
  if (actual !== undefined && /\bPromise\b/.test(actual)) return 'promise';
  if (actual === 'undefined' && expected !== undefined) return 'undefined';
  if (/\b(?:NaN|undefined)\b/.test(actual ?? '') && !/\b(?:NaN|undefined)\b/.test(expected ?? ''))
    return 'not-a-number';
  if (/is not defined|is not a function|has no exported|does not provide an export/.test(message))
    return 'unknown-name';
  if (isTruth(actual) && isTruth(expected)) return 'truth';
  if (numberIn(actual) !== undefined && numberIn(expected) !== undefined) return 'number';
  if (isText(actual) && isText(expected)) return 'text';
  if (actual !== undefined && expected !== undefined) return 'list';
  return /\w*Error\b/.test(message) && !message.startsWith('AssertionError') ? 'exception' : 'unclear';
}

/** The one number that a value is, or that a difference turns on. */
export function numberIn(value: string | undefined): number | undefined {
  const found = /^(?:[\w']+: )?(-?\d+(?:\.\d+)?)n?,?$/.exec(value?.trim() ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}

function isTruth(value: string | undefined): boolean {
  return value === 'true' || value === 'false';
}

function isText(value: string | undefined): boolean {
  return value !== undefined && /^(?:[\w']+: )?['"`]/.test(value);
}

/** The text itself, without quotation marks. */
export function plainText(value: string | undefined): string {
  return (value ?? '')
    .trim()
    .replace(/^[\w']+: (?=['"`])/, '')
    .replaceAll(/^['"`]|['"`],?$/g, '');
}
