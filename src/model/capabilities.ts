import { aFlag, anObject, oneOf } from './check/check-options.ts';
import type { OptionRule } from './check/check-options.ts';

/** What a model can be asked for. A request that asks for more is refused when it is made, before anything is sent. */
export interface Capabilities {
  readonly tools: boolean;
  readonly parallelToolCalls: boolean;
  /** `native`: the provider holds the answer to a JSON Schema. */
  readonly structuredOutput: 'native' | 'none';
  /** `false`: a schema for the answer cannot be asked for beside tools. */
  readonly outputBesideTools?: boolean;
  readonly images: boolean;
  readonly files: boolean;
  readonly reasoningEffort: boolean;
  readonly reasoningBudget: boolean;
  /** `cacheKey` and `cache` on parts are hints: where the provider caches by itself they are simply not needed. */
  readonly caching: 'marked' | 'automatic' | 'none';
  readonly sampling: readonly SamplingOption[];
  /** `prefill`: a broken answer can be continued from its text. */
  readonly continuation: 'prefill' | 'none';
}

/** For options that take capabilities. */
export const someCapabilities: OptionRule = anObject('{ images: false }', {
  tools: aFlag,
  parallelToolCalls: aFlag,
  structuredOutput: oneOf('native', 'none'),
  outputBesideTools: aFlag,
  images: aFlag,
  files: aFlag,
  reasoningEffort: aFlag,
  reasoningBudget: aFlag,
  caching: oneOf('marked', 'automatic', 'none'),
  sampling: { isLegal: Array.isArray, expected: 'a list of sampling options' },
  continuation: oneOf('prefill', 'none'),
} satisfies Record<keyof Capabilities, OptionRule>);

/** Request fields that shape sampling; a provider lists those it takes. */
export type SamplingOption =
  'temperature' | 'topP' | 'topK' | 'frequencyPenalty' | 'presencePenalty' | 'stopSequences' | 'seed';
