import { defined } from '../base/defined.ts';
import { isRecord } from '../base/json.ts';
import { adviseName, nearestNames } from '../base/nearest.ts';
import { configError } from '../errors/config-error.ts';
import type { Model } from '../model/model.ts';
import type { OwnStrategy } from './own-strategy.ts';
import { showValue } from '../model/check/show-value.ts';

/** How a conversation is kept within the model's window. */
export interface ContextOptions {
  /**
   * The window of the model in tokens, as its provider states it. Without it nothing is estimated, and the conversation is made
   * shorter only after the provider has refused it.
   */
  readonly maxTokens?: number;
  /** What of it is kept free for the answer: 4096, or a quarter where that is less. */
  readonly reserveTokens?: number;
  /** What is tried, in this order, until enough is saved; if it never is, the conversation is truncated. Default: both that ask no model. */
  readonly strategy?: ContextStrategy | readonly ContextStrategy[];
  /** So many turns at the end stay as they are. Default: 2. */
  readonly keepLastTurns?: number;
  /** Who writes summaries. Default: the model of the agent. */
  readonly summaryModel?: Model;
  /** Counts the tokens of a text in the place of the built-in estimate: for the window, for compaction and for what of a session is shown. */
  readonly tokenCounter?: TokenCounter;
}

/**
 * Counts the tokens of one text: a whole number from 0, at once or by a promise. Called in durable steps only. All counting before a call
 * of a model gets 10 s; where it throws, takes longer or gives no number, the built-in estimate is used and `hook-failed` says so.
 *
 * @example const tokenCounter: TokenCounter = (text) => encoding.encode(text).length;
 */
export type TokenCounter = (
  text: string,
  context: { readonly signal: AbortSignal },
) => number | Promise<number>;

/**
 * `clear-results`: old results of tools become a note, long old texts keep head and tail. `window`: the oldest turns go. `summary`:
 * they go, and a summary that a model writes replaces them.
 * A function chooses itself: see `OwnStrategy`.
 */
export type ContextStrategy = 'clear-results' | 'window' | 'summary' | OwnStrategy;

/** The window, and what of it is kept free. */
export interface ContextBudget {
  readonly maxTokens: number;
  readonly reserveTokens: number;
}

/** The options with everything filled in. */
export interface ContextRules {
  readonly budget?: ContextBudget;
  readonly strategies: readonly ContextStrategy[];
  readonly keepLastTurns: number;
  readonly summaryModel?: Model;
  readonly tokenCounter?: TokenCounter;
}

const defaultReserveTokens = 4096;
const defaultReserveShare = 0.25;
const defaultStrategies: readonly ContextStrategy[] = ['clear-results', 'window'];
const defaultKeptTurns = 2;
const maxKeptTurns = 1000;

const strategyNames: readonly string[] = ['clear-results', 'window', 'summary'] satisfies readonly Exclude<
  ContextStrategy,
  OwnStrategy
>[];
const fields: readonly string[] = [
  'maxTokens',
  'reserveTokens',
  'strategy',
  'keepLastTurns',
  'summaryModel',
  'tokenCounter',
] satisfies readonly (keyof ContextOptions)[];

/** Fills in the rest, and throws a `ConfigError` that names the first field that makes no sense. */
export function resolveContext(options: unknown = {}): ContextRules {
  if (!isRecord(options))
    throw configError(
      `"context" must be an object, such as { maxTokens: 128_000 }, got ${showValue(options)}`,
    );
  checkFields(options);
  const { keepLastTurns = defaultKeptTurns, summaryModel, tokenCounter } = options;
  const strategies = resolveStrategies(options['strategy']);
  if (!isWhole(keepLastTurns) || keepLastTurns < 1 || keepLastTurns > maxKeptTurns)
    throw misuse('keepLastTurns', `a whole number from 1 to ${maxKeptTurns}`, keepLastTurns);
  const budget = resolveBudget(options);
  if (tokenCounter !== undefined && !isCounter(tokenCounter))
    throw misuse('tokenCounter', 'a function of a text that gives a number', tokenCounter);
  const rules = { strategies, keepLastTurns, ...defined({ budget, tokenCounter }) };
  if (summaryModel === undefined) return rules;
  if (!isModel(summaryModel))
    throw misuse('summaryModel', "a model, such as openai('gpt-5.2-mini')", summaryModel);
  if (!strategies.includes('summary'))
    throw configError(
      '"context.summaryModel" is never asked: put "summary" into "context.strategy", or leave it out',
    );
  return { ...rules, summaryModel };
}

function checkFields(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || fields.includes(name)) continue;
    throw configError(`There is no field "${name}" in "context": ${adviseName(name, fields)}`, {
      context: { field: name },
    });
  }
}

function resolveBudget({
  maxTokens,
  reserveTokens,
}: Readonly<Record<string, unknown>>): ContextBudget | undefined {
  if (maxTokens === undefined) {
    if (reserveTokens !== undefined)
      throw configError(
        '"context.reserveTokens" needs "context.maxTokens", the window that it is kept free of',
      );
    return undefined;
  }
  if (!isWhole(maxTokens) || maxTokens < 1)
    throw misuse('maxTokens', 'a whole number above 0, such as 128_000', maxTokens);
  const reserve =
    reserveTokens ?? Math.min(defaultReserveTokens, Math.floor(maxTokens * defaultReserveShare));
  if (!isWhole(reserve) || reserve < 0 || reserve >= maxTokens)
    throw misuse('reserveTokens', `a whole number from 0 and below "maxTokens" (${maxTokens})`, reserve);
  return { maxTokens, reserveTokens: reserve };
}

function resolveStrategies(strategy: unknown): readonly ContextStrategy[] {
  if (strategy === undefined) return defaultStrategies;
  const names: readonly unknown[] = Array.isArray(strategy) ? strategy : [strategy];
  if (names.length === 0) throw misuse('strategy', 'at least one strategy, or left out', strategy);
  for (const name of names) if (!isStrategy(name)) throw badStrategy(name);
  if (new Set(names).size < names.length)
    throw configError('"context.strategy" names a strategy twice: each is tried once, in the order given');
  return names.filter(isStrategy);
}

function isStrategy(name: unknown): name is ContextStrategy {
  return typeof name === 'function' || (typeof name === 'string' && strategyNames.includes(name));
}

function badStrategy(name: unknown): Error {
  const [nearest] = typeof name === 'string' ? nearestNames(name, strategyNames) : [];
  const known = [...strategyNames.map((strategy) => `"${strategy}"`), 'a function'].join(', ');
  const advice = nearest === undefined ? `known are ${known}` : `did you mean "${nearest}"?`;
  return configError(`There is no strategy ${showValue(name)} for "context.strategy": ${advice}`, {
    context: { field: 'strategy' },
  });
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isCounter(value: unknown): value is TokenCounter {
  return typeof value === 'function';
}

function isModel(value: unknown): value is Model {
  return isRecord(value) && typeof value['call'] === 'function' && isRecord(value['capabilities']);
}

function misuse(name: string, expected: string, value: unknown): Error {
  return configError(`"context.${name}" must be ${expected}, got ${showValue(value)}`, {
    context: { field: name },
  });
}
