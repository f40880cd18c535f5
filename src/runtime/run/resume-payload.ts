import type { RunConfig } from '../../agent/config.ts';
import type { PersonAnswer } from '../../agent/event.ts';
import type { Provenance } from '../../agent/approval/provenance.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import { defined } from '../../base/defined.ts';
import type { AgentParts } from '../agent-parts.ts';
import { childPlace, configFor } from '../children/child-place.ts';
import type { HeldRuns } from './held-runs.ts';
import type { ResumeOptions } from './run-input.ts';

/** What the signal `resume` says. */
export interface ResumePayload {
  readonly answer: PersonAnswer;
  readonly wallMs: number;
  /** Of the agent that continues it; as it was where this is missing. */
  readonly config?: RunConfig;
  /** The place of the question that the answer is to, where that was known: see `placeOf`. */
  readonly about?: string;
  /** Of a run that came from elsewhere: it was resumed here. */
  readonly provenance?: Provenance;
}

interface Answered {
  readonly answer: PersonAnswer;
  readonly about?: string | undefined;
  readonly provenance?: Provenance | undefined;
  /** Whose parts the configuration is made of; the agent's where the run has none of its own. */
  readonly live: { readonly parts: AgentParts | undefined };
}

/** What the signal says for these options. */
export function payloadOf(
  { parts, keeper }: Pick<HeldRuns, 'parts' | 'keeper'>,
  options: ResumeOptions,
  { answer, live, ...place }: Answered,
): ResumePayload {
  const payload = { answer, wallMs: parts.clock.wallMs(), ...defined(place) };
  const bounds = options[childPlace]?.bounds;
  if (keeper === undefined && bounds === undefined) return payload;
  return { ...payload, config: configFor(live.parts ?? parts, bounds) };
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
