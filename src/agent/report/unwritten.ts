import type { Failure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';

/** What a person reads of a run that waits because its store failed: why, what it means, and what to do. */
export function unwrittenText(failure: Failure): string {
  const why = renderFailure(failure, 'person', { retrying: false });
  return `The run could not be recorded: ${why.charAt(0).toLowerCase()}${why.slice(1)} Nothing was done that is not on record. Repair the storage, then resume the run.`;
}
