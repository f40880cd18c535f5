import { isRecord } from '../../base/json.ts';
import { isAboutOther, readFields } from '../../agent/approval/person-answer.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { RunRow, Store } from '../../model/store/store.ts';
import type { ResumePayload } from './resume-payload.ts';
import { placeOf } from './resume-payload.ts';
import { at } from '../record/run-blobs.ts';
import { provenanceIn } from '../record/stored-run.ts';

/** What an answer to a suspended run is bound to. */
export type Question = Pick<ResumePayload, 'about' | 'provenance'>;

/** The question on record, as far as it can be read. */
export interface AskedQuestion extends Question {
  readonly request?: unknown;
  /** The names of tools that the run has of its own. */
  readonly tools?: readonly string[];
}

/** What a suspended run asks, by its record: it is the last that was written, or nearly. */
export async function questionOf({ runs }: Store, { runId, headSeq }: RunRow): Promise<AskedQuestion> {
  const events = await runs.events(runId, { from: Math.max(1, headSeq - eventsLookedAt) });
  const asked = events.findLast(({ type }) => type === 'suspended');
  const request = at(asked?.body, ['request']);
  const id = at(request, ['id']);
  const provenance = provenanceIn(events);
  const tools = at(asked?.body, ['tools']);
  return {
    ...(request === undefined ? {} : { request }),
    ...(typeof id === 'string' ? { about: placeOf({ id }, runId) } : {}),
    ...(provenance === undefined ? {} : { provenance }),
    ...(Array.isArray(tools) ? { tools: tools.map(String) } : {}),
  };
}

const eventsLookedAt = 20;

/** A question on record, where it has the form of one. */
export function readRequest(request: unknown): PersonRequest | undefined {
  if (!isRecord(request) || typeof request['id'] !== 'string') return undefined;
  const { type, tool, hash } = request;
  const isAboutCall =
    (type === 'approval' || type === 'in-doubt') && typeof tool === 'string' && typeof hash === 'string';
  return isAboutCall || type === 'question' || type === 'mend'
    ? (request as unknown as PersonRequest) // As far as an answer is held against it.
    : undefined;
}

/**
 * Whether an answer to the question on record counts for the one that an imported run asks now: where the answer itself names the call, or
 * both questions are about the same one. A person may have seen no more than the first.
 */
export function isAnsweredBy(request: PersonRequest | undefined, asked: unknown, answer: unknown): boolean {
  if (request === undefined || !('hash' in request) || isAboutOther(request, answer)) return false;
  const names = readFields(answer, ['tool', 'input']);
  if (names?.has('tool') === true && names.has('input')) return true;
  return at(asked, ['type']) === request.type && !isAboutOther(request, pickCall(asked));
}

function pickCall(asked: unknown): Readonly<Record<string, unknown>> {
  return { tool: at(asked, ['tool']) ?? null, input: at(asked, ['input']) ?? null };
}
