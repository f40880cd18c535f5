import type { ProviderFailureInput } from '../../errors/classify/evidence.ts';
import { usageError } from '../text/usage-error.ts';

/** What is known of one failed model call, from flags or from a paste. */
export interface Observation {
  readonly provider?: string;
  readonly model?: string;
  readonly status?: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** An SDK's error text; its cause behind `; cause: `. */
  readonly message?: string;
  readonly errno?: string;
}

/** Flags and a paste as one. A flag is nearer than what was pasted and wins, but a text cannot come from both. */
export function combine(flags: Observation, pasted: Observation): Observation {
  for (const field of ['body', 'message'] as const) {
    if (flags[field] === undefined || pasted[field] === undefined) continue;
    throw usageError({
      message: `The ${field} comes from two places at once, from --${field} and from the input`,
      hint: `Leave out --${field}, or the input`,
    });
  }
  const headers = { ...pasted.headers, ...flags.headers };
  return { ...pasted, ...flags, ...(Object.keys(headers).length === 0 ? {} : { headers }) };
}

/** Whether there is anything to decide on. The name of a provider alone is nothing. */
export function isEmpty({ status, headers, body, message, errno }: Observation): boolean {
  const isBlank = (text: string | undefined): boolean => (text ?? '').trim() === '';
  return status === undefined && headers === undefined && [body, message, errno].every(isBlank);
}

/** Headers one by one, as one record. Two of the same name are joined by a comma, as HTTP has it. */
export function headerRecord(
  pairs: readonly (readonly [name: string, value: string])[],
): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

/** The observation as the classifier takes it: text and errno become what an SDK would have thrown. */
export function toProviderInput(observation: Observation, now: number): ProviderFailureInput {
  const { message, errno, ...rest } = observation;
  const error = toError(message, errno);
  return { ...rest, now, ...(error === undefined ? {} : { error }) };
}

const causeMark = '; cause: ';

function toError(message: string | undefined, errno: string | undefined): Error | undefined {
  const text = message ?? errno;
  if (text === undefined) return undefined;
  const code = errno === undefined ? {} : { code: errno };
  const at = text.indexOf(causeMark);
  if (at === -1) return Object.assign(new Error(text), code);
  const cause = Object.assign(new Error(text.slice(at + causeMark.length)), code);
  return new Error(text.slice(0, at), { cause });
}
