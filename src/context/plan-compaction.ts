import { unreachable } from '../base/assert.ts';
import type { Compaction } from '../model/compaction.ts';
import type { IsRead } from '../model/effects.ts';
import type { Message } from '../model/message.ts';
import { askForSummary } from './ask-for-summary.ts';
import type { SummaryReading, SummaryRequest } from './ask-for-summary.ts';
import { clearResults } from './clear-results.ts';
import type { ContextBudget, ContextRules, ContextStrategy } from './context-options.ts';
import { finishDraft, isWithin, startDraft } from './draft.ts';
import type { Draft } from './draft.ts';
import { dropOldTurns } from './drop-old-turns.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { applyChoice, viewOfDraft } from './own-strategy.ts';
import type { ChoiceReading, ContextView, OwnStrategy } from './own-strategy.ts';
import { messagesToSummarise, summariseOldTurns } from './summarise-old-turns.ts';
import { truncate } from './truncate.ts';

/** What a plan is made from. The same input gives the same plan. */
export interface CompactionInput {
  /** The conversation without the instructions. */
  readonly messages: readonly Message[];
  /** Instructions, tools and the like: see `estimateConversation`. */
  readonly fixedTokens: number;
  readonly reason: CompactionReason;
  readonly rules: Pick<ContextRules, 'strategies' | 'keepLastTurns'>;
  /** What came of the questions that `planQuestion` gave. Without it the strategy `summary` truncates, and a function changes nothing. */
  readonly summary?: SummaryReading;
  readonly choices?: ReadonlyMap<number, ChoiceReading>;
  /** Calls of other tools stay visible as effects. Without it, those of all tools do. */
  readonly isRead?: IsRead;
  /** A better estimate than ours, where a caller has one. Must be that of the message alone, and never change. */
  readonly tokensOf?: (message: Message) => number;
}

/** `budget`: before a call, by the estimate. `overflow`: the provider refused what was sent as too long. */
export type CompactionReason = ({ readonly type: 'budget' } & ContextBudget) | Overflow;

/** A refusal of a conversation as too long. */
export interface Overflow {
  readonly type: 'overflow';
  readonly budget?: ContextBudget;
  /** The last time that the run may make it shorter before an answer: all that can be cut is cut. */
  readonly isLast?: boolean;
  /** It was made shorter since the last answer, and that was not enough. */
  readonly isAgain?: boolean;
  /** What the provider counted and what it takes, where it says so. */
  readonly stated?: { readonly requestedTokens: number; readonly maxTokens: number };
}

/** Code that compacts to the very limit compacts again at the next turn, and loses the provider's cache each time. */
const aimShare = 0.75;
/** The estimate was wrong by an unknown amount. */
const overflowShare = 0.6;
/** And what no compaction saves may be most of it. */
const overflowMessageShare = 0.3;
/** What a provider states is held to with some room, for the estimate does not grow as its count does. */
const statedShare = 0.9;

/**
 * Plans how a conversation is made shorter: the strategies one after the other until enough is saved, then truncation if it still
 * does not fit. Nothing where it fits already, or where nothing can be saved. `strategy` names the last one that was needed.
 */
export function planCompaction(input: CompactionInput): Compaction | undefined {
  const draft = draftOf(input);
  const bounds = boundsOf(draft, input);
  if (bounds === undefined) return undefined;
  for (const place of input.rules.strategies.keys()) {
    if (isWithin(draft, bounds.aimTokens)) break;
    perform(draft, place, { input, ...bounds });
  }
  if (!isWithin(draft, bounds.limitTokens)) truncate(draft, { ...input.rules, ...bounds });
  return finishDraft(draft);
}

/** What must be asked before the plan can be made, and is not answered yet. */
export type PlanQuestion =
  /** Of a model. Hand what `readSummary` makes of its answer to the next plan, as `summary`. */
  | { readonly type: 'summary'; readonly request: SummaryRequest }
  /** Of a function of the caller. Hand what `readChoice` makes of its answer to the next plan, in `choices` under this place. */
  | {
      readonly type: 'own';
      readonly place: number;
      readonly strategy: OwnStrategy;
      readonly view: ContextView;
    };

/** The first question that the plan comes to. Nothing where it can be made. Each strategy is asked at most once. */
export function planQuestion(input: CompactionInput): PlanQuestion | undefined {
  const { strategies, keepLastTurns } = input.rules;
  const draft = draftOf(input);
  const bounds = boundsOf(draft, input);
  if (bounds === undefined) return undefined;
  const { aimTokens } = bounds;
  const { fixedTokens, reason } = input;
  for (const [place, strategy] of strategies.entries()) {
    if (isWithin(draft, aimTokens)) return undefined;
    if (typeof strategy === 'function' && input.choices?.has(place) !== true) {
      const view = viewOfDraft(draft, { aimTokens, fixedTokens, why: reason.type });
      return { type: 'own', place, strategy, view };
    }
    if (strategy === 'summary' && input.summary === undefined) {
      const messages = messagesToSummarise(draft, keepLastTurns);
      if (messages !== undefined) return { type: 'summary', request: askForSummary(messages) };
    }
    perform(draft, place, { input, ...bounds });
  }
  return undefined;
}

function draftOf(input: CompactionInput): Draft {
  const { messages, fixedTokens, tokensOf = estimateTokens, isRead = () => false } = input;
  return startDraft({ messages, fixedTokens, tokensOf, isRead });
}

interface Bounds {
  readonly aimTokens: number;
  readonly limitTokens: number;
}

/** What is aimed for, and what must hold. Nothing where it holds, or where not even an empty conversation would fit. */
function boundsOf({ tokensBefore }: Draft, { reason, fixedTokens }: CompactionInput): Bounds | undefined {
  const budget = reason.type === 'budget' ? reason : reason.budget;
  const room = budget === undefined ? Infinity : budget.maxTokens - budget.reserveTokens;
  if (reason.type === 'overflow') {
    const limitTokens = Math.floor(Math.min(overflowTokens(reason, tokensBefore, fixedTokens), room));
    return { aimTokens: limitTokens, limitTokens };
  }
  if (tokensBefore <= room || fixedTokens >= room) return undefined;
  return { aimTokens: Math.floor(room * aimShare), limitTokens: room };
}

/** By what the provider states, and by ever less where that was not enough or it states nothing. */
function overflowTokens(overflow: Overflow, tokensBefore: number, fixedTokens: number): number {
  const { stated, isLast = false, isAgain = false } = overflow;
  if (isLast) return 0;
  const leastTokens = fixedTokens + (tokensBefore - fixedTokens) * overflowMessageShare;
  const unstated = Math.max(tokensBefore * overflowShare, leastTokens);
  if (stated === undefined) return unstated;
  const byCount = tokensBefore * (stated.maxTokens / stated.requestedTokens) * statedShare;
  // Where the numbers leave no room for any message, they are not about what can be cut.
  const target = byCount > fixedTokens ? byCount : leastTokens;
  return isAgain ? Math.min(target, unstated) : target;
}

interface Performance extends Bounds {
  readonly input: CompactionInput;
}

function perform(draft: Draft, place: number, performance: Performance): void {
  const { input, aimTokens } = performance;
  const { keepLastTurns, strategies } = input.rules;
  const strategy = strategies[place] as ContextStrategy; // One of its places.
  if (typeof strategy === 'function') {
    const choice = input.choices?.get(place);
    if (choice?.type === 'ok') applyChoice(draft, choice.choice, { keepLastTurns });
    return;
  }
  switch (strategy) {
    case 'clear-results':
      return clearResults(draft, { keepLastTurns, aimTokens });
    case 'window':
      return dropOldTurns(draft, { keepLastTurns, aimTokens }, 'window');
    case 'summary':
      return summarise(draft, performance);
    default:
      return unreachable(strategy);
  }
}

/** What was to be summarised goes without, where there is no summary and it does not fit. */
function summarise(draft: Draft, { input, aimTokens, limitTokens }: Performance): void {
  const { keepLastTurns } = input.rules;
  const { summary } = input;
  if (summary?.type === 'ok' && summariseOldTurns(draft, { keepLastTurns, summary: summary.summary })) return;
  if (!isWithin(draft, limitTokens)) dropOldTurns(draft, { keepLastTurns, aimTokens }, 'truncate');
}
