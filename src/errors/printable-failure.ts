import type { Json } from '../base/json.ts';
import { printableValue } from '../base/printable.ts';
import type { Failure } from './failure.ts';

/** A failure of which every text is printable, so that whatever is rendered from it is safe and of our own lines only. */
export function printableFailure(failure: Failure): Failure {
  // A failure is JSON, and its shape stays: only texts and names are replaced, each by a text.
  return printableValue(failure as unknown as Json) as unknown as Failure;
}
