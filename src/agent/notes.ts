import type { Failure } from '../errors/failure.ts';
import { renderFailure } from '../errors/render-failure.ts';
import type { Message } from '../model/message.ts';

/** A note of the runtime to the model. It is marked as such, so that it is not taken for the words of the person. */
export function noteMessage(text: string): Message {
  return { role: 'user', content: `${noteMark} ${text}` };
}

const noteMark = '[Note from the runtime]';

/** Whether it is such a note. */
export function isNote({ role, content }: Message): boolean {
  return role === 'user' && typeof content === 'string' && content.startsWith(noteMark);
}

/** What the model reads after an answer that could not be used. */
export function nudgeMessage(failure: Failure): Message {
  return noteMessage(nudges[failure.code] ?? renderFailure(failure, 'model'));
}

const nudges: Readonly<Partial<Record<Failure['code'], string>>> = {
  EMPTY_RESPONSE: 'Your last answer was empty. Answer the request, or call a tool.',
  OUTPUT_TRUNCATED:
    'Your last answer was cut off at the limit of output tokens and was not used. Answer again in a shorter form; split long tool arguments over several calls.',
};

/** Asks a model to continue where its answer was cut off. */
export const continueMessage: Message = noteMessage(
  'Your answer was cut off at the limit of output tokens. Continue exactly where it stops: repeat nothing, and say nothing about the interruption.',
);

/** Asks for what can be said without tools when a limit is reached. */
export function salvageMessage(failure: Failure): Message {
  return noteMessage(
    `${renderFailure(failure, 'model')} No tool can be called any more. Say in your answer what was done, what you found, and plainly what is missing.`,
  );
}
