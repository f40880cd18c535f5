import type { Provenance } from '../../agent/approval/provenance.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import type { Engine } from '../record/durable.ts';
import { placeOf } from '../run/resume-payload.ts';

/** What a run has said of how far it is. */
export interface Announced {
  readonly seq: number;
  readonly outcome: RunOutcome;
  /** Where the run came from, if its record was taken over: an answer is marked with it. */
  readonly provenance?: Provenance;
}

interface Sending {
  readonly runId: string;
  readonly payload: object;
  readonly announced: Announced | undefined;
}

/** One answer to one question: a second answer is too late. A run that is under way is only joined. */
export async function sendAnswer(engine: Engine, { runId, payload, announced }: Sending): Promise<void> {
  if (announced === undefined) return;
  const { seq, outcome, provenance } = announced;
  const request = outcome.type === 'suspended' ? outcome.request : undefined;
  const about = {
    ...(request === undefined ? {} : { about: placeOf(request, runId) }),
    ...(provenance === undefined ? {} : { provenance }),
  };
  const whole = { ...payload, ...about } as unknown as Json; // Payloads are plain data.
  await engine.signal(runId, 'resume', { id: `resume:${seq}`, payload: whole });
}
