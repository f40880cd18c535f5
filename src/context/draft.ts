/**
 * A compaction while it is planned: what goes and what is shortened so far, and what is left by the estimate. Every change is made
 * with the functions that will apply the plan, so the estimate of the plan is that of its result.
 */
import { reviseMessage } from '../model/apply-compaction.ts';
import type {
  ClearedResult,
  Compaction,
  CompactionStrategy,
  MessageRange,
  ShortenedText,
} from '../model/compaction.ts';
import { missingBefore, missingNote, summaryNote, withList } from '../model/compaction-notes.ts';
import { effectDetails, effectsByMessage, writeEffects } from '../model/effects.ts';
import type { Effect, IsRead } from '../model/effects.ts';
import type { Message } from '../model/message.ts';
import type { Unit } from './kept-messages.ts';

/** Written by the strategies, one after the other. */
export interface Draft {
  readonly messages: readonly Message[];
  readonly tokensOf: (message: Message) => number;
  readonly isRead: IsRead;
  readonly tokensBefore: number;
  /** By message, what it takes now. */
  readonly tokens: number[];
  readonly goes: boolean[];
  /** By message, what must stay visible of it if it goes. */
  readonly effects: readonly (readonly Effect[])[];
  readonly revisions: Map<number, DraftRevision>;
  /** What is left of it all but the note for what went. */
  keptTokens: number;
  /** Of the note; absent where it has changed since it was measured. */
  noteTokens: number | undefined;
  /** How much the note says of each effect: a place in `effectDetails`. */
  detail: number;
  /** How many messages went, in this compaction and in those whose notes went with them. */
  missing: number;
  summary: { readonly text: string; readonly covers: number } | undefined;
  /** The last one that changed something. */
  strategy: CompactionStrategy | undefined;
}

interface DraftRevision {
  readonly cleared: Map<string, number>;
  readonly shortened: Map<number, Cut>;
}

type Cut = Pick<ShortenedText, 'headCharacters' | 'tailCharacters'>;

/** A plan in which nothing is changed yet. */
export function startDraft({
  messages,
  fixedTokens,
  tokensOf,
  isRead,
}: Pick<Draft, 'messages' | 'tokensOf' | 'isRead'> & { readonly fixedTokens: number }): Draft {
  const tokens = messages.map((message) => tokensOf(message));
  const tokensBefore = tokens.reduce((sum, count) => sum + count, fixedTokens);
  return {
    messages,
    tokensOf,
    isRead,
    tokensBefore,
    tokens,
    goes: messages.map(() => false),
    effects: effectsByMessage(messages, isRead),
    revisions: new Map(),
    keptTokens: tokensBefore,
    noteTokens: 0,
    detail: 0,
    missing: 0,
    summary: undefined,
    strategy: undefined,
  };
}

/** Whether no more than this is left. */
export function isWithin(draft: Draft, tokens: number): boolean {
  // The note may be long, so it is measured only where it matters.
  return draft.keptTokens <= tokens && totalTokens(draft) <= tokens;
}

/** What is left of it all. */
function totalTokens(draft: Draft): number {
  draft.noteTokens ??= draft.tokensOf({ role: 'user', content: noteText(draft) });
  return draft.keptTokens + draft.noteTokens;
}

/** Lets the note say less of each effect, down to tool, arguments and outcome. False where it can say no less. */
export function listLess(draft: Draft, strategy: CompactionStrategy): boolean {
  if (draft.missing === 0 || draft.detail >= effectDetails.length - 1) return false;
  draft.detail += 1;
  draft.noteTokens = undefined;
  draft.strategy = strategy;
  return true;
}

/** Lets one unit go. */
export function dropUnit(draft: Draft, unit: Unit, strategy: CompactionStrategy): void {
  for (const index of unit) {
    const message = draft.messages[index];
    if (message === undefined || draft.goes[index] === true) continue;
    draft.goes[index] = true;
    draft.missing += missingBefore(message) ?? 1;
    draft.keptTokens -= draft.tokens[index] ?? 0;
  }
  draft.strategy = strategy;
  draft.noteTokens = undefined;
}

/** Puts a summary in the place of the units, or changes nothing where that would save nothing. */
export function summariseUnits(draft: Draft, units: readonly Unit[], summary: string): boolean {
  const saved = tokensOfUnits(draft, units);
  const list = writeEffects(units.flat().flatMap((index) => draft.effects[index] ?? []));
  if (saved <= draft.tokensOf({ role: 'user', content: withList(summaryNote(summary), list) })) return false;
  const missingBeside = draft.missing;
  for (const unit of units) dropUnit(draft, unit, 'summary');
  const { text: earlier, covers } = draft.summary ?? { text: '', covers: 0 };
  const text = earlier === '' ? summary : `${earlier}\n\n${summary}`;
  draft.summary = { text, covers: covers + draft.missing - missingBeside };
  return true;
}

/** What the units take now. */
export function tokensOfUnits({ tokens, goes }: Draft, units: readonly Unit[]): number {
  let sum = 0;
  for (const unit of units) for (const index of unit) sum += goes[index] === true ? 0 : (tokens[index] ?? 0);
  return sum;
}

/** Replaces a result, or what follows its head, by a note, if that saves anything. */
export function clearOne(
  draft: Draft,
  { message, callId, headCharacters = 0 }: ClearedResult,
  strategy: CompactionStrategy,
): void {
  const { cleared, shortened } = revisionOf(draft, message);
  const revision = { cleared: new Map(cleared).set(callId, headCharacters), shortened };
  revise(draft, message, { revision, strategy });
}

/** Leaves only head and tail of a text, if that saves anything. */
export function shortenOne(
  draft: Draft,
  { message, part, headCharacters, tailCharacters }: ShortenedText,
  strategy: CompactionStrategy,
): void {
  const { cleared, shortened } = revisionOf(draft, message);
  const cuts = new Map(shortened).set(part, { headCharacters, tailCharacters });
  revise(draft, message, { revision: { cleared, shortened: cuts }, strategy });
}

/** The plan as data. Nothing where it would save nothing. */
export function finishDraft(draft: Draft): Compaction | undefined {
  const { strategy, tokensBefore, goes } = draft;
  const tokensAfter = totalTokens(draft);
  if (strategy === undefined || tokensAfter >= tokensBefore) return undefined;
  const cleared: ClearedResult[] = [];
  const shortened: ShortenedText[] = [];
  const revised = [...draft.revisions].toSorted(([one], [other]) => one - other);
  for (const [message, revision] of revised) {
    if (goes[message] === true) continue;
    for (const [callId, headCharacters] of revision.cleared)
      cleared.push(headCharacters === 0 ? { message, callId } : { message, callId, headCharacters });
    for (const [part, cut] of revision.shortened) {
      const result = draft.messages[message];
      const isCleared = result?.role === 'tool' && revision.cleared.has(result.content[part]?.callId ?? '');
      if (!isCleared) shortened.push({ message, part, ...cut });
    }
  }
  const dropped = rangesOf(goes);
  const note = dropped.length === 0 ? {} : { summary: noteText(draft) };
  return { strategy, dropped, ...note, cleared, shortened, tokensBefore, tokensAfter };
}

function noteText({ missing, summary, effects, goes, detail }: Draft): string {
  const list = writeEffects(
    effects.flatMap((own, index) => (goes[index] === true ? own : [])),
    effectDetails[detail],
  );
  if (summary === undefined) return missingNote(missing, list);
  return withList(summaryNote(summary.text, missing - summary.covers), list);
}

function revisionOf({ revisions }: Draft, message: number): DraftRevision {
  return revisions.get(message) ?? { cleared: new Map(), shortened: new Map() };
}

interface Change {
  readonly revision: DraftRevision;
  readonly strategy: CompactionStrategy;
}

function revise(draft: Draft, index: number, { revision, strategy }: Change): void {
  const message = draft.messages[index];
  const before = draft.tokens[index] ?? 0;
  if (message === undefined || draft.goes[index] === true) return;
  const after = draft.tokensOf(reviseMessage(message, revision));
  if (after >= before) return;
  draft.revisions.set(index, revision);
  draft.tokens[index] = after;
  draft.keptTokens += after - before;
  draft.strategy = strategy;
}

function rangesOf(goes: readonly boolean[]): readonly MessageRange[] {
  const ranges: MessageRange[] = [];
  for (let from = goes.indexOf(true); from !== -1;) {
    const next = goes.indexOf(false, from);
    const to = next === -1 ? goes.length : next;
    ranges.push({ from, to });
    from = goes.indexOf(true, to);
  }
  return ranges;
}
