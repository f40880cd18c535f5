/**
 * Chooses what of a long conversation a new run is shown. What is chosen stays in its order and in whole exchanges, so a
 * conversation that providers take stays one. Where a way to choose fails, the next simpler one is taken, and said so:
 * embeddings, lexical, recency, none. Losing the history is worse than choosing it badly, and failing the run is worse than both.
 * What earlier runs did is never left out: the effects of what is not chosen are listed in a note before it.
 */
import { classifyFailure } from '../errors/classify-failure.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { IsRead } from '../model/effects.ts';
import type { Message } from '../model/message.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { createVectorCache, scoreByEmbeddings } from './select-history-embeddings.ts';
import type { EmbedTexts, VectorCache } from './select-history-embeddings.ts';
import { cutHead, exchangeText, splitExchanges } from './select-history-exchanges.ts';
import type { Exchange } from './select-history-exchanges.ts';
import { scoreLexically } from './select-history-lexical.ts';
import { noteUnshown } from './note-unshown.ts';
import { selectionStrategies } from './select-history-rules.ts';
import type { SelectionRules, SelectionStrategy } from './select-history-rules.ts';

export interface SelectHistoryInput {
  /** The session so far, without what is asked now. */
  readonly messages: readonly Message[];
  /** What is asked now. */
  readonly query: string;
  readonly rules: SelectionRules;
  /** Tokens of one message; `estimateTokens` by default. */
  readonly estimate?: ((message: Message) => number) | undefined;
  /** The session is longer than this: its oldest messages were not read. */
  readonly isCut?: boolean;
  /** Calls of other tools stay visible as effects. Without it, those of all tools do. */
  readonly isRead?: IsRead | undefined;
  /** Needed for the strategy `embeddings` only. */
  readonly embed?: EmbedTexts | undefined;
  /** Kept by the caller, so that a session is not embedded again for every run. */
  readonly vectors?: VectorCache | undefined;
  readonly signal: AbortSignal;
}

/** What the run is shown, and how it was chosen. */
export interface Selected {
  readonly messages: readonly Message[];
  /** The one that chose in the end; `all` where everything is within the bounds. */
  readonly strategy: 'all' | SelectionStrategy;
  readonly exchanges: { readonly total: number; readonly selected: number };
  readonly tokens: number;
  /** In their order; empty where all went as it should. */
  readonly degraded: readonly SelectionDegraded[];
}

/** One way to choose gave way to a simpler one. */
export interface SelectionDegraded {
  readonly from: SelectionStrategy;
  readonly to: SelectionStrategy;
  readonly failure: Failure;
}

/** Chooses by the rules. Never rejects for a failure: only with the signal's reason, when it aborts. */
export async function selectHistory(input: SelectHistoryInput): Promise<Selected> {
  const { messages, rules, estimate = estimateTokens, signal } = input;
  signal.throwIfAborted();
  const looked = attempt(() => look(splitExchanges(messages, estimate), rules));
  if (looked.type === 'failed') return nothing(input, [], looked.failure);
  const { exchanges, isAll, lastTokens } = looked.value;
  const result = (choice: Choice): Selected => selectedOf(input, exchanges, choice);
  if (rules.strategy === 'none') return result({ strategy: 'none', chosen: [], degraded: [] });
  if (isAll) return result({ strategy: 'all', chosen: [...exchanges.keys()], degraded: [] });
  // Without it, an older one would look as if it were the latest.
  if (!(lastTokens <= rules.maxTokens)) return nothing(input, exchanges, tooLong(lastTokens, rules));
  const degraded: SelectionDegraded[] = [];
  for (const [place, strategy] of strategiesFrom(input).entries()) {
    const chosen = await choose(strategy, exchanges, input);
    if (chosen.type === 'ok') return result({ strategy, chosen: chosen.value, degraded });
    const to = strategiesFrom(input)[place + 1] ?? 'none';
    degraded.push({ from: strategy, to, failure: chosen.failure });
  }
  return result({ strategy: 'none', chosen: [], degraded });
}

type Attempted<Value> =
  { readonly type: 'ok'; readonly value: Value } | { readonly type: 'failed'; readonly failure: Failure };

/** What is kept may have been written by anybody; a message that cannot be read must not end a run that could do without. */
function attempt<Value>(work: () => Value): Attempted<Value> {
  try {
    return { type: 'ok', value: work() };
  } catch (thrown) {
    return { type: 'failed', failure: classifyFailure(thrown, 'context') };
  }
}

interface Looked {
  readonly exchanges: readonly Exchange[];
  /** Everything is within the bounds. */
  readonly isAll: boolean;
  readonly lastTokens: number;
}

function look(exchanges: readonly Exchange[], { maxExchanges, maxTokens }: SelectionRules): Looked {
  const isAll = exchanges.length <= maxExchanges && tokensOf(exchanges) <= maxTokens;
  return { exchanges, isAll, lastTokens: exchanges.at(-1)?.tokens ?? 0 };
}

function nothing(input: SelectHistoryInput, exchanges: readonly Exchange[], failure: Failure): Selected {
  const degraded = [{ from: input.rules.strategy, to: 'none', failure }] as const;
  return selectedOf(input, exchanges, { strategy: 'none', chosen: [], degraded });
}

interface Choice extends Pick<Selected, 'strategy' | 'degraded'> {
  /** Places of exchanges, ascending. */
  readonly chosen: readonly number[];
}

function selectedOf(
  input: SelectHistoryInput,
  exchanges: readonly Exchange[],
  { strategy, chosen, degraded }: Choice,
): Selected {
  const shown = chosen.flatMap((place) => exchanges[place] ?? []);
  const places = new Set(chosen);
  const left = exchanges.filter((_, place) => !places.has(place));
  const tokens = tokensOf(shown);
  const note = noteUnshown(left, { ...input, roomTokens: input.rules.maxTokens - tokens });
  return {
    messages: [...note, ...shown.flatMap(({ messages }) => messages)],
    strategy,
    exchanges: { total: exchanges.length, selected: shown.length },
    tokens,
    degraded,
  };
}

function tokensOf(exchanges: readonly Exchange[]): number {
  return exchanges.reduce((sum, { tokens }) => sum + tokens, 0);
}

function tooLong(tokens: number, { maxTokens }: SelectionRules): Failure {
  return createFailure('COMPACTION_FAILED', {
    origin: 'context',
    message: `Cannot show any of the session: its last exchange is of about ${tokens} tokens, and "maxTokens" is ${maxTokens}`,
    hint: 'Raise "maxTokens" of the selection of history, or let tools give shorter results.',
    context: { tokens, maxTokens },
  });
}

function strategiesFrom({ rules, query }: SelectHistoryInput): readonly Exclude<SelectionStrategy, 'none'>[] {
  // Nothing is near to nothing.
  const first = query.trim() === '' ? 'recency' : rules.strategy;
  return selectionStrategies
    .slice(selectionStrategies.indexOf(first))
    .filter((strategy) => strategy !== 'none');
}

/** The places of the exchanges that are shown, ascending. */
async function choose(
  strategy: Exclude<SelectionStrategy, 'none'>,
  exchanges: readonly Exchange[],
  input: SelectHistoryInput,
): Promise<Attempted<readonly number[]>> {
  if (strategy === 'recency') return attempt(() => latest(exchanges, input.rules));
  if (strategy === 'lexical') {
    return attempt(() => {
      const scores = scoreLexically(textsOf(exchanges), cutHead(input.query, maxTextCharacters));
      return best(exchanges, { scores, rules: input.rules });
    });
  }
  const scored = await scoreMeaning(exchanges, input);
  return scored.type === 'failed'
    ? scored
    : attempt(() => best(exchanges, { scores: scored.scores, rules: input.rules }));
}

/** The last ones without a gap, and what is pinned. */
function latest(exchanges: readonly Exchange[], rules: SelectionRules): readonly number[] {
  const room = startRoom(exchanges, rules);
  takeLast(room, rules.maxExchanges);
  return chosenIn(room);
}

/** What is chosen so far, and what may still be. */
interface Room {
  readonly exchanges: readonly Exchange[];
  readonly chosen: Set<number>;
  readonly maxExchanges: number;
  leftTokens: number;
}

/** With the last exchange, and with what is pinned as far as it fits, the later ones first. */
function startRoom(exchanges: readonly Exchange[], { maxExchanges, maxTokens }: SelectionRules): Room {
  const room: Room = { exchanges, chosen: new Set(), maxExchanges, leftTokens: maxTokens };
  take(room, exchanges.length - 1);
  for (let place = exchanges.length - 2; place >= 0; place -= 1) {
    if (exchanges[place]?.isPinned === true) take(room, place);
  }
  return room;
}

/** Whether it is chosen now. */
function take(room: Room, place: number): boolean {
  if (room.chosen.has(place)) return true;
  const tokens = room.exchanges[place]?.tokens ?? 0;
  if (room.chosen.size >= room.maxExchanges || tokens > room.leftTokens) return false;
  room.chosen.add(place);
  room.leftTokens -= tokens;
  return true;
}

/** So many at the end, up to the first that has no room. */
function takeLast(room: Room, count: number): void {
  const { length } = room.exchanges;
  for (let place = length - 1; place >= Math.max(0, length - count); place -= 1) {
    if (!take(room, place)) return;
  }
}

function chosenIn({ chosen }: Room): readonly number[] {
  return [...chosen].toSorted((one, other) => one - other);
}

/** Longer texts say nothing more about what an exchange was about. */
const maxTextCharacters = 4000;
/** Older ones are taken by their age only. */
const maxRanked = 1000;

/** Blank where an exchange is not ranked. */
function textsOf(exchanges: readonly Exchange[]): readonly string[] {
  const firstRanked = exchanges.length - maxRanked;
  return exchanges.map((exchange, place) =>
    place < firstRanked ? '' : exchangeText(exchange, maxTextCharacters),
  );
}

interface Ranking {
  readonly scores: readonly (number | undefined)[];
  readonly rules: SelectionRules;
}

/** The last ones and the pinned ones first, then the best; of equals, and of those without a score, the later one. */
function best(exchanges: readonly Exchange[], { scores, rules }: Ranking): readonly number[] {
  const room = startRoom(exchanges, rules);
  takeLast(room, rules.keepLast);
  const score = (place: number): number => scores[place] ?? -Infinity;
  const ranked = [...exchanges.keys()].toSorted((one, other) =>
    score(one) === score(other) ? other - one : score(other) - score(one),
  );
  for (const place of ranked) {
    if (room.chosen.size >= room.maxExchanges) break;
    take(room, place);
  }
  return chosenIn(room);
}

async function scoreMeaning(
  exchanges: readonly Exchange[],
  { query, rules, embed, vectors = createVectorCache(), signal }: SelectHistoryInput,
): ReturnType<typeof scoreByEmbeddings> {
  if (embed === undefined) return { type: 'failed', failure: noModel() };
  try {
    const { maxEmbedded } = rules;
    const wanted = cutHead(query.trim(), maxTextCharacters);
    return await scoreByEmbeddings(textsOf(exchanges), {
      query: wanted,
      embed,
      vectors,
      maxEmbedded,
      signal,
    });
  } catch (thrown) {
    // An interruption is no failure: there will be no run to choose for.
    if (signal.aborted) throw thrown;
    return { type: 'failed', failure: classifyFailure(thrown, 'embedding') };
  }
}

function noModel(): Failure {
  return createFailure('PROVIDER_NOT_CONFIGURED', {
    origin: 'embedding',
    message: 'The history is to be selected by embeddings, but there is no embedding model',
    hint: "Give the session an embedding model, such as openaiEmbedding('text-embedding-3-small'), or choose the strategy 'lexical'.",
  });
}
