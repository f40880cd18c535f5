import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';

/** How a question is put, and what each answer to it means. */
export interface Question {
  /** What may be typed, with what it means. */
  readonly choices: string;
  /** The answer that a typed text is; nothing where it is none and should be asked again. */
  readonly read: (typed: string) => { readonly answer: Json | undefined } | undefined;
  /** What Escape is. */
  readonly refusal: Json | undefined;
}

const yes = /^(?:y|yes)$/i;
const no = /^(?:n|no)$/i;

/** A gate opens by a plain yes and by nothing else. */
export function questionOf(request: PersonRequest): Question {
  if (request.type === 'in-doubt') return inDoubt(request);
  const about = request.type === 'approval' ? { id: request.id, hash: request.hash } : { id: request.id };
  const refuse = (reason?: string): Json => ({
    ...about,
    approved: false,
    ...(reason === undefined ? {} : { reason }),
  });
  return {
    choices: 'y is yes, n is no; anything else is a no with your reason, which the model is told',
    read: (typed) => {
      if (typed === '') return undefined;
      if (yes.test(typed)) return { answer: { ...about, approved: true } };
      return { answer: no.test(typed) ? refuse() : refuse(typed) };
    },
    refusal: refuse(),
  };
}

/** A mere yes could mean that the call should be made, so the question says what it means. */
function inDoubt({ id, hash }: Extract<PersonRequest, { type: 'in-doubt' }>): Question {
  return {
    choices: 'y: it happened, n: it did not happen, Escape: nobody knows',
    read: (typed) => {
      if (yes.test(typed)) return { answer: { id, hash, happened: true } };
      return no.test(typed) ? { answer: { id, hash, happened: false } } : undefined;
    },
    refusal: undefined,
  };
}
