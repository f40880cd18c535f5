import type { Json } from '../../base/json.ts';
import type { ReasoningEffort } from '../../model/request.ts';
import { familyOf } from './language-model.ts';
import type { CheckedModel } from './language-model.ts';

/** Options for the AI SDK's provider packages, by the name that the package reads. */
export type PackageOptions = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** What the AI SDK's call options have no field for, and a provider package takes under a name of its own. */
export interface Dialect {
  readonly parallelToolCalls?: (isAllowed: boolean) => PackageOptions;
  /** Only used below the fourth specification, which has a field for it. */
  readonly effort?: (effort: ReasoningEffort) => PackageOptions;
  readonly budget?: (budgetTokens: number) => PackageOptions;
  /** On a part or a message up to which the prompt should be cached. */
  readonly cache?: PackageOptions;
}

/** What the package of this model takes. Of a package that is not known nothing is assumed. */
export function dialectOf(model: CheckedModel): Dialect {
  const family = familyOf(model);
  return Object.hasOwn(dialects, family) ? (dialects[family] ?? {}) : {};
}

const openai: Dialect = {
  parallelToolCalls: (isAllowed) => ({ openai: { parallelToolCalls: isAllowed } }),
  effort: (effort) => ({ openai: { reasoningEffort: effort } }),
};

const dialects: Readonly<Record<string, Dialect>> = {
  openai,
  azure: openai,
  'azure-openai': openai,
  anthropic: {
    parallelToolCalls: (isAllowed) => ({ anthropic: { disableParallelToolUse: !isAllowed } }),
    budget: (budgetTokens) => ({ anthropic: { thinking: thinkingOf(budgetTokens) } }),
    cache: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  },
  google: {
    budget: (budgetTokens) => ({ google: { thinkingConfig: { thinkingBudget: budgetTokens } } }),
  },
};

function thinkingOf(budgetTokens: number): Json {
  return budgetTokens === 0 ? { type: 'disabled' } : { type: 'enabled', budgetTokens };
}

/** Lays options over each other, package by package; the later ones win. */
export function joinOptions(list: readonly (PackageOptions | undefined)[]): PackageOptions | undefined {
  const joined: Record<string, Readonly<Record<string, Json>>> = {};
  for (const options of list) {
    for (const [name, fields] of Object.entries(options ?? {})) joined[name] = { ...joined[name], ...fields };
  }
  return Object.keys(joined).length === 0 ? undefined : joined;
}
