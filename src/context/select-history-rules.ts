import { isRecord } from '../base/json.ts';
import { adviseName, nearestNames } from '../base/nearest.ts';
import { configError } from '../errors/config-error.ts';
import type { RerailError } from '../errors/rerail-error.ts';
import { showName, showValue } from '../model/check/show-value.ts';

/** How exchanges are chosen, the best first: by meaning, by words, by time, not at all. */
export const selectionStrategies = ['embeddings', 'lexical', 'recency', 'none'] as const;
/** One of `selectionStrategies`. */
export type SelectionStrategy = (typeof selectionStrategies)[number];

/** What of a session a new run is shown. An exchange is a message of the user with everything up to the next one. */
export interface SelectionRules {
  readonly strategy: SelectionStrategy;
  readonly maxExchanges: number;
  /** By estimate, of all that is chosen together. */
  readonly maxTokens: number;
  /** So many at the end come first, whatever they are about: a conversation continues where it stopped. */
  readonly keepLast: number;
  /** Texts that one run has embedded at most, the latest first; what was embedded before is remembered. */
  readonly maxEmbedded: number;
}

/** What holds by default. */
export const defaultSelection: SelectionRules = {
  strategy: 'recency',
  maxExchanges: 50,
  maxTokens: 64_000,
  keepLast: 3,
  maxEmbedded: 128,
};

const bounds: Readonly<Record<Exclude<keyof SelectionRules, 'strategy'>, number>> = {
  maxExchanges: 10_000,
  maxTokens: 10_000_000,
  keepLast: 10_000,
  maxEmbedded: 2048,
};

/** Fills in the rest, and throws a `ConfigError` that names the first field that makes no sense. */
export function resolveSelection(options: unknown): SelectionRules {
  if (options === undefined) return defaultSelection;
  if (!isRecord(options)) {
    throw configError(
      `The selection of history must be an object, such as { strategy: 'lexical', maxExchanges: 20 }, got ${showValue(options)}`,
    );
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(defaultSelection, name)) throw unknownField(name);
  }
  const maxExchanges = readCount(options, 'maxExchanges');
  return {
    strategy: readStrategy(options['strategy']),
    maxExchanges,
    maxTokens: readCount(options, 'maxTokens'),
    keepLast: readKeepLast(options, maxExchanges),
    maxEmbedded: readCount(options, 'maxEmbedded'),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function unknownField(name: string): RerailError {
  const names = Object.keys(defaultSelection);
  return configError(`The selection of history has no field ${showName(name)}: ${adviseName(name, names)}`, {
    context: { field: name },
  });
}

function readStrategy(value: unknown): SelectionStrategy {
  if (value === undefined) return defaultSelection.strategy;
  const strategy = selectionStrategies.find((known) => known === value);
  if (strategy !== undefined) return strategy;
  const [nearest] = typeof value === 'string' ? nearestNames(value, selectionStrategies) : [];
  const advice = nearest === undefined ? '' : `: did you mean "${nearest}"?`;
  throw configError(
    `"strategy" of the selection of history must be one of ${selectionStrategies.join(', ')}, got ${showValue(value)}${advice}`,
    { context: { field: 'strategy' } },
  );
}

function readCount(fields: Fields, name: keyof typeof bounds): number {
  const value = fields[name];
  if (value === undefined) return defaultSelection[name];
  const isLegal = Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= bounds[name];
  if (isLegal) return Number(value);
  throw configError(
    `"${name}" of the selection of history must be a whole number from 1 to ${bounds[name]}, got ${showValue(value)}`,
    { context: { field: name } },
  );
}

/** The default gives way to a small `maxExchanges`; what a caller wrote does not. */
function readKeepLast(fields: Fields, maxExchanges: number): number {
  const keepLast = readCount(fields, 'keepLast');
  if (keepLast <= maxExchanges) return keepLast;
  if (fields['keepLast'] === undefined) return maxExchanges;
  throw configError(
    `"keepLast" of the selection of history must be at most "maxExchanges" (${maxExchanges}), got ${keepLast}`,
    { context: { field: 'keepLast' } },
  );
}
