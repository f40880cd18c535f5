import { clean } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { printableFailure } from '../../errors/printable-failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import type { ReportFacts } from './report-facts.ts';
import type { Block } from './report-document.ts';
import type { StopReason } from '../run-outcome.ts';

/** What happened and what to do next, for a person. */
export interface Explanation {
  readonly what: string;
  readonly next: string;
}

/** Says in plain words why a run ended. */
export function explainEnd({ ended }: ReportFacts): Explanation {
  return safely(() => {
    const { failure } = ended;
    if (ended.type === 'stopped') return explainStop(ended.reason, failure);
    return failure === undefined ? nothingKnown : explainFailure(failure);
  }, nothingKnown);
}

/** The two halves of the text for a person about a failure for which nothing more is done. */
export function explainFailure(given: Failure): Explanation {
  const failure = printableFailure(given);
  const going = renderFailure(failure, 'person', { retrying: true });
  // Both texts begin with what happened; the one of a runtime that continues ends in these words.
  const what = going.slice(0, going.lastIndexOf(' Rerail will try again'));
  const whole = renderFailure(failure, 'person', { retrying: false });
  return { what, next: whole.slice(what.length).trim() };
}

/** Blocks of one part; where it cannot be written, a line that says so: the rest of the report must not be lost with it. */
export function section(heading: string, write: () => readonly Block[]): readonly Block[] {
  const unwritten: readonly Block[] = [{ type: 'paragraph', text: '(This part could not be written.)' }];
  return [{ type: 'heading', text: heading }, ...safely(write, unwritten)];
}

/** What can be said, or `otherwise` where the facts are not what they should be: a report must not end in another error. */
export function safely<Value>(say: () => Value, otherwise: Value): Value {
  try {
    return say();
  } catch {
    return otherwise; // What failed is the reading of facts, and the report says so in its place.
  }
}

/** A text of the person or the model: without secrets, and bounded. */
export function excerpt(text: unknown, maxLength: number): string {
  return typeof text === 'string' ? clean(text, maxLength).trim() : '';
}

/** A number as people write it. */
export function amount(value: unknown): string {
  return typeof value === 'number' && Number.isFinite(value)
    ? value.toLocaleString('en-US')
    : 'an unknown number';
}

/** `1 turn`, `2 turns`. */
export function counted(value: unknown, noun: string): string {
  return `${amount(value)} ${value === 1 ? noun : `${noun}s`}`;
}

/** Money to four digits, and what is not known of it. */
export function money(costUsd: unknown, unknownCost: unknown): string {
  const known = typeof costUsd === 'number' && Number.isFinite(costUsd) ? costUsd : 0;
  const missing = typeof unknownCost === 'number' && unknownCost > 0 ? unknownCost : 0;
  if (missing === 0) return `${known.toFixed(4)} USD`;
  const rest = `the cost of ${counted(missing, 'request')} is not known`;
  return known > 0 ? `at least ${known.toFixed(4)} USD (${rest})` : rest;
}

/** What a record holds under a name of its own: a tool may be called `constructor`. */
export function own<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

const nothingKnown: Explanation = {
  what: 'Something went wrong that could not be identified.',
  next: 'The developer report holds all that is known.',
};

/** What a person reads where a limit or a person ended it. `detail`: the failure's own words say more. */
const stopWords = {
  'max-turns': {
    what: 'The work took more steps than it may.',
    next: 'Read how far it came, then ask for less at once or allow more steps.',
    detail: false,
  },
  budget: {
    what: 'The work used up what it was allowed to use.',
    next: 'Read how far it came, then ask for less at once or allow more.',
    detail: true,
  },
  deadline: {
    what: 'The time for this work was over before it was finished.',
    next: 'Read how far it came, then ask for less at once or allow more time.',
    detail: false,
  },
  loop: {
    what: 'The model repeated the same steps again and again without progress.',
    next: 'Ask in other words, or say what should be done differently.',
    detail: true,
  },
  rejected: {
    what: 'A person denied what the model wanted to do more than once.',
    next: 'Say what should be done instead, then ask again.',
    detail: true,
  },
  guardrail: {
    what: 'A rule of this program does not allow what was asked or answered.',
    next: 'Ask for something that the rule allows.',
    detail: true,
  },
  refused: {
    what: 'The model refused to answer.',
    next: 'Ask in other words, or ask for something else.',
    detail: false,
  },
} as const satisfies Readonly<Record<StopReason, Explanation & { readonly detail: boolean }>>;

function explainStop(reason: StopReason, failure: Failure | undefined): Explanation {
  const { what, next, detail } = stopWords[reason];
  const message = detail ? excerpt(failure?.message, 300).replace(/[.\s]+$/, '') : '';
  return {
    what: message === '' ? what : `${what} In detail: ${message}.`,
    next: failure?.hint ?? next,
  };
}
