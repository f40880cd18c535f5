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
import { missingBefore, missingNote, summaryNote } from '../model/compaction-notes.ts';
import type { Message } from '../model/message.ts';
import type { Unit } from './kept-messages.ts';

/** Written by the strategies, one after the other. */
export interface Draft {
  readonly messages: readonly Message[];
  readonly tokensOf: (message: Message) => number;
  readonly tokensBefore: number;
  /** By message, what it takes now. */
  readonly tokens: number[];
  readonly goes: boolean[];
  readonly revisions: Map<number, DraftRevision>;
  /** What is left of it all, the note for what went included. */
  totalTokens: number;
  noteTokens: number;
  /** How many messages went, in this compaction and in those whose notes went with them. */
  missing: number;
  summary: { readonly text: string; readonly covers: number } | undefined;
  /** The last one that changed something. */
  strategy: CompactionStrategy | undefined;
}

interface DraftRevision {
  readonly cleared: Set<string>;
  readonly shortened: Map<number, Cut>;
}

type Cut = Pick<ShortenedText, 'headCharacters' | 'tailCharacters'>;

/** A plan in which nothing is changed yet. */
export function startDraft({
  messages,
  fixedTokens,
  tokensOf,
}: {
  readonly messages: readonly Message[];
  readonly fixedTokens: number;
  readonly tokensOf: (message: Message) => number;
}): Draft {
  const tokens = messages.map((message) => tokensOf(message));
  const tokensBefore = tokens.reduce((sum, count) => sum + count, fixedTokens);
  return {
    messages,
    tokensOf,
    tokensBefore,
    tokens,
    goes: messages.map(() => false),
    revisions: new Map(),
    totalTokens: tokensBefore,
    noteTokens: 0,
    missing: 0,
    summary: undefined,
    strategy: undefined,
  };
}

/** Lets one unit go. */
export function dropUnit(draft: Draft, unit: Unit, strategy: CompactionStrategy): void {
  for (const index of unit) {
    const message = draft.messages[index];
    if (message === undefined || draft.goes[index] === true) continue;
    draft.goes[index] = true;
    draft.missing += missingBefore(message) ?? 1;
    draft.totalTokens -= draft.tokens[index] ?? 0;
  }
  draft.strategy = strategy;
  measureNote(draft);
}

/** Puts a summary in the place of the units, or changes nothing where that would save nothing. */
export function summariseUnits(draft: Draft, units: readonly Unit[], summary: string): boolean {
  const saved = tokensOfUnits(draft, units);
  if (saved <= draft.tokensOf({ role: 'user', content: summaryNote(summary) })) return false;
  const missingBeside = draft.missing;
  for (const unit of units) dropUnit(draft, unit, 'summary');
  draft.summary = { text: summary, covers: draft.missing - missingBeside };
  measureNote(draft);
  return true;
}

/** What the units take now. */
export function tokensOfUnits({ tokens, goes }: Draft, units: readonly Unit[]): number {
  let sum = 0;
  for (const unit of units) for (const index of unit) sum += goes[index] === true ? 0 : (tokens[index] ?? 0);
  return sum;
}

/** Replaces a result by a note, if that saves anything. */
export function clearOne(
  draft: Draft,
  { message, callId }: ClearedResult,
  strategy: CompactionStrategy,
): void {
  const { cleared, shortened } = revisionOf(draft, message);
  revise(draft, message, { revision: { cleared: new Set([...cleared, callId]), shortened }, strategy });
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
  const { strategy, tokensBefore, totalTokens: tokensAfter, goes } = draft;
  if (strategy === undefined || tokensAfter >= tokensBefore) return undefined;
  const cleared: ClearedResult[] = [];
  const shortened: ShortenedText[] = [];
  const revised = [...draft.revisions].toSorted(([one], [other]) => one - other);
  for (const [message, revision] of revised) {
    if (goes[message] === true) continue;
    for (const callId of revision.cleared) cleared.push({ message, callId });
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

function measureNote(draft: Draft): void {
  const noteTokens = draft.tokensOf({ role: 'user', content: noteText(draft) });
  draft.totalTokens += noteTokens - draft.noteTokens;
  draft.noteTokens = noteTokens;
}

function noteText({ missing, summary }: Draft): string {
  if (summary === undefined) return missingNote(missing);
  return summaryNote(summary.text, missing - summary.covers);
}

function revisionOf({ revisions }: Draft, message: number): DraftRevision {
  return revisions.get(message) ?? { cleared: new Set(), shortened: new Map() };
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
  draft.totalTokens += after - before;
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
