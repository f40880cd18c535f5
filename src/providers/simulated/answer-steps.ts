import type { FinishReason } from '../../model/finish.ts';
import type { Signature } from '../../model/message.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import type { Usage } from '../../model/usage.ts';
import type { Step } from './play-attempt.ts';

/** An answer as a whole, before it is told piece by piece. */
export interface AnswerScript {
  readonly reasoning?: { readonly text: string; readonly signature?: Signature } | undefined;
  /** The pieces in which the text arrives. */
  readonly text: readonly string[];
  readonly calls: readonly ScriptedCallText[];
  readonly usage: Usage;
  /** Absent where the stream breaks off before it. */
  readonly finish?: FinishReason | undefined;
  readonly responseId?: string;
  readonly servedBy?: string;
  /** The wait before the first part, and between two pieces. */
  readonly delayMs: number;
  readonly chunkDelayMs: number;
}

/** A tool call as text. */
export interface ScriptedCallText {
  readonly callId: string;
  readonly name: string;
  readonly argumentsText: string;
  /** The stream breaks off, or goes on, without saying that the call is whole. */
  readonly isUnfinished?: boolean | undefined;
}

/** The steps that tell an answer, in the order in which a provider sends them. */
export function* answerSteps(script: AnswerScript): Generator<Step> {
  const { reasoning, text, calls, usage, finish, delayMs, chunkDelayMs, responseId, servedBy } = script;
  if (delayMs > 0) yield { type: 'wait', delayMs };
  yield part({
    type: 'started',
    ...(responseId === undefined ? {} : { responseId }),
    ...(servedBy === undefined ? {} : { servedBy }),
  });
  if (reasoning !== undefined) {
    const { signature } = reasoning;
    if (reasoning.text !== '') yield part({ type: 'reasoning-delta', text: reasoning.text });
    yield part({ type: 'reasoning-finished', ...(signature === undefined ? {} : { signature }) });
  }
  yield* textSteps(text, chunkDelayMs);
  const isWhole = finish !== undefined;
  if (text.length > 0 && isWhole) yield part({ type: 'text-finished' });
  for (const call of calls) yield* callSteps(call);
  if (Object.keys(usage).length > 0) yield part({ type: 'usage', usage });
  if (finish !== undefined) yield part({ type: 'finished', finish: { reason: finish, raw: finish } });
}

function* textSteps(pieces: readonly string[], chunkDelayMs: number): Generator<Step> {
  for (const [index, text] of pieces.entries()) {
    if (index > 0 && chunkDelayMs > 0) yield { type: 'wait', delayMs: chunkDelayMs };
    yield part({ type: 'text-delta', text });
  }
}

function* callSteps({ callId, name, argumentsText, isUnfinished }: ScriptedCallText): Generator<Step> {
  yield part({ type: 'tool-call-started', callId, name });
  // In two pieces, as no consumer may rely on getting the arguments in one.
  const middle = Math.ceil(argumentsText.length / 2);
  for (const text of [argumentsText.slice(0, middle), argumentsText.slice(middle)]) {
    if (text !== '') yield part({ type: 'tool-call-delta', callId, text });
  }
  if (isUnfinished !== true) yield part({ type: 'tool-call-finished', callId });
}

function part(given: StreamPart): Step {
  return { type: 'part', part: given };
}

const wordsPerPiece = 3;

/** Cuts a text into pieces of a few words; joined, they are the text again. */
export function cutIntoPieces(text: string): readonly string[] {
  const words = text.match(/\S+\s*|^\s+/g) ?? [];
  const pieces: string[] = [];
  for (let start = 0; start < words.length; start += wordsPerPiece) {
    pieces.push(words.slice(start, start + wordsPerPiece).join(''));
  }
  return pieces;
}
