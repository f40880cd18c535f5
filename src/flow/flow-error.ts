import { defined } from '../base/defined.ts';
import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';

export interface FlowErrorDetails {
  readonly code?: 'FLOW_INVALID' | 'FLOW_CYCLE';
  readonly hint?: string | undefined;
  readonly context?: Readonly<Record<string, Json>>;
}

/** What is wrong with a flow, reported when it is created: a `FlowError` to throw. */
export function flowError(message: string, details: FlowErrorDetails = {}): RerailError {
  const { code = 'FLOW_INVALID', hint, context } = details;
  return RerailError.from(createFailure(code, defined({ origin: 'flow', message, hint, context } as const)));
}

const maxShownNames = 10;

/** Names in a sentence: `"a"`, `"b" and "c"`. */
export function listNames(names: readonly string[]): string {
  const quoted = names.slice(0, maxShownNames).map((name) => `"${name}"`);
  const rest = names.length - quoted.length;
  if (rest > 0) return `${quoted.join(', ')} and ${rest} more`;
  const last = quoted.at(-1) ?? 'none';
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(', ')} and ${last}`;
}
