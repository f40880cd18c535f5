import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';

/** How a question is put, and what each answer to it means. */
export interface Question {
  /** What may be typed, with what it means. */
  readonly choices: string;
  /** The answer that a typed text is; nothing where it is none and should be asked again. */
  readonly read: (typed: string) => { readonly answer: RunAnswer | undefined } | undefined;
  /** Stands before what is typed. */
  readonly prompt: string;
  /** What Escape is. */
  readonly refusal: RunAnswer | undefined;
}

const yes = /^(?:y|yes)$/i;
const no = /^(?:n|no)$/i;

/** A gate opens by a plain yes and by nothing else. */
export function questionOf(request: PersonRequest): Question {
  if (request.type === 'in-doubt') return inDoubt(request);
  if (request.type === 'question') return inWords;
  const about = request.type === 'approval' ? { id: request.id, hash: request.hash } : { id: request.id };
  const refuse = (reason?: string): RunAnswer => ({
    ...about,
    approved: false,
    ...(reason === undefined ? {} : { reason }),
  });
  return {
    prompt: yesOrNo,
    choices: 'y approves, n denies; any other text denies, and is your reason for the model',
    read: (typed) => {
      if (typed === '') return undefined;
      if (yes.test(typed)) return { answer: { ...about, approved: true } };
      return { answer: no.test(typed) ? refuse() : refuse(typed) };
    },
    refusal: refuse(),
  };
}

const yesOrNo = 'y/n > ';

const inWords: Question = {
  prompt: '> ',
  choices: 'Type the answer and press Enter. Escape leaves the question open.',
  read: (typed) => (typed === '' ? undefined : { answer: typed }),
  refusal: undefined,
};

/** A mere yes could mean that the call should be made, so the question says what it means. */
function inDoubt({ id, hash }: Extract<PersonRequest, { type: 'in-doubt' }>): Question {
  return {
    prompt: yesOrNo,
    choices: 'y: it happened, n: it did not happen, Escape: not known',
    read: (typed) => {
      if (yes.test(typed)) return { answer: { id, hash, happened: true } };
      return no.test(typed) ? { answer: { id, hash, happened: false } } : undefined;
    },
    refusal: undefined,
  };
}
