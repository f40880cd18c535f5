export { anthropic } from './anthropic.ts';
export type { AnthropicOptions } from './anthropic.ts';
