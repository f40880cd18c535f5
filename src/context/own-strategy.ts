/** A strategy of the caller: what it is asked, what its answer means, and what is done with it. */
import { isRecord } from '../base/json.ts';
import type { Message } from '../model/message.ts';
import { showValue } from '../model/check/show-value.ts';
import { reviseMessage } from '../model/apply-compaction.ts';
import { dropUnit, summariseUnits } from './draft.ts';
import type { Draft } from './draft.ts';
import { findKept, findUnits } from './kept-messages.ts';

/**
 * Chooses what the model still sees of a conversation that is too long. Called in a durable step, so its answer is on record and a
 * resume does not call it again for the same step. It gets a copy, and at most 10 s.
 *
 * It must not rely on being obeyed to the letter: a call and its results stay together, pinned messages, the first and the last
 * words of the user and the last turns stay, and calls that are not `read` stay listed.
 *
 * @example
 * const keepDecisions: OwnStrategy = ({ messages }) => ({
 *   keep: messages.flatMap((message, place) => (isDecision(message) ? [place] : [])),
 * });
 */
export type OwnStrategy = (
  view: ContextView,
  context: { readonly signal: AbortSignal },
) => ContextChoice | Promise<ContextChoice>;

/** A conversation that is too long. */
export interface ContextView {
  /** Without the instructions, as the strategies before have left it. */
  readonly messages: readonly Message[];
  /** What each of them takes. */
  readonly tokens: readonly number[];
  /** What all of it takes, with `fixedTokens`. */
  readonly totalTokens: number;
  /** Of these, what instructions, tools and the schema of the answer take: nothing can be saved there. */
  readonly fixedTokens: number;
  /** What all of it should take at most. */
  readonly aimTokens: number;
  /** `budget`: by the count, before a call. `overflow`: a provider refused it. */
  readonly why: 'budget' | 'overflow';
}

/** What the model still sees. */
export interface ContextChoice {
  /** Places in `messages`. What is not among them goes. */
  readonly keep: readonly number[];
  /** Replaces what goes, at most 12,000 characters. */
  readonly summary?: string;
}

/** What its answer means. */
export type ChoiceReading =
  | { readonly type: 'ok'; readonly choice: ContextChoice }
  | { readonly type: 'failed'; readonly why: string; readonly thrown?: unknown };

const maxSummaryCharacters = 12_000;

/** What a strategy is shown of the draft. */
export function viewOfDraft(
  draft: Draft,
  { aimTokens, fixedTokens, why }: Pick<ContextView, 'aimTokens' | 'fixedTokens' | 'why'>,
): ContextView {
  const left = placesLeft(draft);
  const messages = left.flatMap((place) => shownAt(draft, place));
  const tokens = left.map((place) => draft.tokens[place] ?? 0);
  return { messages, tokens, totalTokens: draft.keptTokens, fixedTokens, aimTokens, why };
}

/** Reads what the function gave back. Never throws. */
export function readChoice(given: unknown, view: ContextView): ChoiceReading {
  try {
    return readGiven(given, view);
  } catch {
    return failed('what it gave cannot be read'); // A Proxy or a getter that throws.
  }
}

function readGiven(given: unknown, { messages }: ContextView): ChoiceReading {
  if (!isRecord(given)) return failed(`it gave ${showValue(given)} instead of { keep }`);
  const { keep, summary } = given;
  if (!Array.isArray(keep)) return failed(`its "keep" must be a list of places, got ${showValue(keep)}`);
  if (keep.length > messages.length)
    return failed(`its "keep" has ${keep.length} places, and there are ${messages.length} messages`);
  const isPlace = (place: unknown): place is number =>
    Number.isInteger(place) && Number(place) >= 0 && Number(place) < messages.length;
  const places = keep.filter(isPlace);
  if (places.length < keep.length)
    return failed(
      `its "keep" names ${showValue(keep.find((place) => !isPlace(place)))}, which is no place of a message`,
    );
  if (summary === undefined) return { type: 'ok', choice: { keep: places } };
  if (typeof summary !== 'string') return failed(`its "summary" must be a text, got ${showValue(summary)}`);
  if (summary.length > maxSummaryCharacters)
    return failed(
      `its "summary" has ${summary.length} characters, at most ${maxSummaryCharacters} are taken`,
    );
  return { type: 'ok', choice: { keep: places, ...(summary.trim() === '' ? {} : { summary }) } };
}

/** Does what was chosen, as far as the conversation stays valid. */
export function applyChoice(
  draft: Draft,
  { keep, summary }: ContextChoice,
  { keepLastTurns }: { readonly keepLastTurns: number },
): void {
  const left = placesLeft(draft);
  const stays = new Set(keep.map((place) => left[place]));
  const { messages, goes } = draft;
  const units = findUnits(messages, findKept(messages, keepLastTurns)).filter((unit) =>
    unit.every((place) => goes[place] !== true && !stays.has(place)),
  );
  if (units.length === 0) return;
  if (summary !== undefined && summariseUnits(draft, units, summary)) draft.strategy = 'own';
  else if (summary === undefined) for (const unit of units) dropUnit(draft, unit, 'own');
}

function placesLeft({ messages, goes }: Draft): readonly number[] {
  return messages.flatMap((_message, place) => (goes[place] === true ? [] : [place]));
}

function shownAt({ messages, revisions }: Draft, place: number): readonly Message[] {
  const message = messages[place];
  const revision = revisions.get(place);
  if (message === undefined) return [];
  return [revision === undefined ? message : reviseMessage(message, revision)];
}

function failed(why: string): ChoiceReading {
  return { type: 'failed', why };
}
