import { defined } from '../../base/defined.ts';
import { someCapabilities } from '../../model/capabilities.ts';
import type { Capabilities } from '../../model/capabilities.ts';
import { aFunction, aText, checkOptions } from '../../model/check/check-options.ts';
import type { OptionRule } from '../../model/check/check-options.ts';
import { checkRequest } from '../../model/check/check-request.ts';
import { emptyPartial } from '../../model/model.ts';
import type { Model } from '../../model/model.ts';
import { aPrice } from '../../model/price.ts';
import type { Price } from '../../model/price.ts';
import type { ModelRequest } from '../../model/request.ts';
import type { ClassifyError } from '../classify-error.ts';
import { configError } from '../config-error.ts';
import { attemptStream } from './attempt-stream.ts';
import type { ModelPart } from './model-part.ts';

/** A model of one's own. */
export interface ModelDefinition {
  /** Who serves it: `acme`. */
  readonly provider: string;
  /** The model's name there. */
  readonly model: string;
  /**
   * Sends the request once and yields the answer as it comes, `finished` last. Usually an `async function*`. It may throw: whatever it throws
   * is classified. It must not retry; pass `signal` on to whatever it waits for.
   */
  readonly stream: (
    request: ModelRequest,
    context: { readonly signal: AbortSignal },
  ) => AsyncIterable<ModelPart> | Iterable<ModelPart> | Promise<AsyncIterable<ModelPart>>;
  /** What it takes besides plain text. What is left out it does not take: a request that asks for it is refused. */
  readonly capabilities?: Partial<Capabilities>;
  readonly price?: Price;
  /** What shares limits and outages with this model; by default all models of this provider. Never a key. */
  readonly quotaKey?: string;
  /** Corrects how a failure is classified. */
  readonly classifyError?: ClassifyError;
}

const plainText: Capabilities = {
  tools: false,
  parallelToolCalls: false,
  structuredOutput: 'none',
  images: false,
  files: false,
  reasoningEffort: false,
  reasoningBudget: false,
  caching: 'none',
  sampling: [],
  continuation: 'none',
};

const optionRules: Readonly<Record<keyof ModelDefinition, OptionRule>> = {
  provider: aText,
  model: aText,
  stream: aFunction,
  capabilities: someCapabilities,
  price: aPrice,
  quotaKey: aText,
  classifyError: aFunction,
};

/**
 * Makes a model of one function that yields the parts of an answer. Timeouts, cancellation, the classification of what it throws, the
 * assembly of the answer and the verdict whether it is whole are taken care of.
 *
 * @example
 * const echo = defineModel({
 *   provider: 'acme',
 *   model: 'echo',
 *   async *stream(request, { signal }) {
 *     yield { type: 'text-delta', text: await ask(request.messages, { signal }) };
 *     yield { type: 'finished', finish: 'stop' };
 *   },
 * });
 */
export function defineModel(definition: ModelDefinition): Model {
  checkOptions({ of: 'defineModel()', rules: optionRules }, definition);
  const { provider, model, stream, price, quotaKey = provider, classifyError } = definition;
  for (const name of ['provider', 'model', 'stream'] as const) {
    if (definition[name] === undefined) throw configError(`defineModel() needs "${name}"`);
  }
  const described = {
    provider,
    name: model,
    quotaKey,
    capabilities: { ...plainText, ...defined(definition.capabilities ?? {}) },
    ...defined({ price }),
  };
  const owner = { provider, model, price, classifyError };
  return {
    ...described,
    call: (request, options = {}) => {
      const refused = options.isChecked === true ? undefined : checkRequest(described, request);
      if (refused !== undefined)
        return Promise.resolve({ type: 'failure', failure: refused, partial: emptyPartial });
      // The lists belong to the caller, who goes on writing into them.
      const own = { ...request, messages: [...request.messages] };
      return attemptStream((signal) => stream(own, { signal }), owner, options);
    },
  };
}
