import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { nearestNames } from '../base/nearest.ts';
import { pricedModels } from './prices.ts';

/** Names that a provider is known to have had. Never the whole list: providers add models daily. */
export function knownModels(provider: string): readonly string[] {
  const priced = pricedModels(priceOwner[provider] ?? provider);
  return [...priced, ...(unpriced[provider] ?? [])];
}

/** What somebody probably meant by a model that the provider does not have, nearest first. */
export function nearestModels(provider: string, name: string): readonly string[] {
  return nearestNames(
    name,
    knownModels(provider).filter((known) => known !== name),
  );
}

/** The same models sold by another house. */
const priceOwner: Readonly<Record<string, string>> = { azure: 'openai', vertex: 'gemini' };

/** Names of models whose price moves or is not known. */
const unpriced: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['claude-haiku-5-5'],
  deepseek: ['deepseek-chat', 'deepseek-reasoner'],
  mistral: [
    'mistral-large-latest',
    'mistral-medium-latest',
    'mistral-small-latest',
    'codestral-latest',
    'magistral-medium-latest',
  ],
  perplexity: ['sonar', 'sonar-pro', 'sonar-reasoning-pro', 'sonar-deep-research'],
  xai: ['grok-4', 'grok-3-mini'],
};

/** Says what was probably meant, where the provider does not know the model. */
export function withNearest(failure: Failure, provider: string, name: string): Failure {
  if (failure.code !== 'MODEL_NOT_FOUND') return failure;
  const nearest = nearestModels(provider, name);
  if (nearest.length === 0) return failure;
  const question = `Did you mean ${nearest.map((near) => `"${near}"`).join(' or ')}?`;
  return createFailure(failure.code, {
    ...failure,
    hint: failure.hint === undefined ? question : `${failure.hint} ${question}`,
    context: { ...failure.context, nearest },
  });
}
