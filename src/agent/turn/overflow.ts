/**
 * A provider refused the conversation as too long. It is made shorter, again and again, until the provider takes it or nothing is
 * left to cut. That ends: every time is strictly shorter, and there are at most `maxShortenings` of them between two answers.
 */
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { RefusedSize } from '../event.ts';

/** How often a conversation is made shorter between two answers. The last time all that can be cut is cut. */
export const maxShortenings = 6;
/** How often a conversation that must fit is sent again as it is, between two answers. */
const maxRepeats = 2;
/** The estimate is rather too high: a conversation of this share of the window is not too long for it. */
const surelyFits = 0.25;

/** Whether a failure says that what was sent is too long. */
export function isOverflow({ code }: Failure): boolean {
  return code === 'CONTEXT_LENGTH_EXCEEDED' || code === 'REQUEST_TOO_LARGE';
}

/** Whether a refusal cannot be about the length: the conversation is far from the limit that the provider states. Then it is worth asking again. */
export function isUnbelievable(
  failure: Failure,
  { refused, repeats }: { readonly refused?: RefusedSize | undefined; readonly repeats: number },
): boolean {
  const { maxTokens } = failure.context;
  if (!isOverflow(failure)) return false;
  if (refused === undefined || typeof maxTokens !== 'number' || repeats >= maxRepeats) return false;
  return refused.tokens < maxTokens * surelyFits;
}

/** The end of a run whose conversation the provider does not take: with what was done about it, in numbers. */
export function overflowFailure(
  failure: Failure,
  { refused, shortenings }: { readonly refused?: RefusedSize | undefined; readonly shortenings: number },
): Failure {
  if (refused === undefined || !isOverflow(failure)) return failure;
  const { tokens, fixedTokens } = refused;
  const times = shortenings === 1 ? 'once' : `${shortenings} times`;
  const done = shortenings === 0 ? '' : `It was made shorter ${times}. `;
  return createFailure(failure.code, {
    ...failure,
    message: `${failure.message} ${done}Nothing is left to cut: it is about ${tokens} tokens by estimate, ${fixedTokens} of them instructions and tools.`,
    context: { ...failure.context, shortenings, estimatedTokens: tokens, fixedTokens },
  });
}
