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
