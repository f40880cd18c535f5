import type { RunConfig } from '../agent/config.ts';
import type { PersonAnswer } from '../agent/event.ts';
import type { Provenance } from '../agent/provenance.ts';
import type { PersonRequest } from '../agent/run-outcome.ts';

/** What the signal `resume` says. */
export interface ResumePayload {
  readonly answer: PersonAnswer;
  readonly wallMs: number;
  /** Of the agent that goes on with it; as it was where this is missing. */
  readonly config?: RunConfig;
  /** The place of the question that the answer is to, where that was known: see `placeOf`. */
  readonly about?: string;
  /** Of a run that came from elsewhere: it was resumed here. */
  readonly provenance?: Provenance;
}

/** Of a question in its run. The run's own name is left out: a copy of the run asks the same by another name. */
export function placeOf({ id }: Pick<PersonRequest, 'id'>, runId: string): string {
  if (id.startsWith(`${runId}:`)) return id.slice(runId.length + 1);
  // Of a run below, which asks by way of this one.
  return id.startsWith(`${runId}/`) ? id.slice(runId.length) : id;
}

/** An answer to one question opens no other: the run may have asked another one before it came. */
export function isAbout(
  about: string | undefined,
  request: PersonRequest | undefined,
  runId: string,
): boolean {
  return about === undefined || request === undefined || about === placeOf(request, runId);
}
