export { anthropic } from './anthropic.ts';
export type { ProviderOptions as AnthropicOptions } from '../provider-options.ts';
