import { aFlag } from '../../model/check/check-options.ts';
import { addressVariables } from '../address-variables.ts';
import { capabilitiesOf } from '../capability-tables.ts';
import { defineProvider } from '../define-provider.ts';
import { addressOf } from '../open-endpoint.ts';
import type { Wire } from '../define-provider.ts';
import { priceOf } from '../prices.ts';
import { anthropicMessages } from '../protocols/anthropic/anthropic.ts';
import type { Provider, ProviderOptions } from '../provider-options.ts';

/** Anthropic's own libraries take the address without its version, so many gateways name theirs like that. */
const official = {
  url: 'https://api.anthropic.com/v1',
  versionPath: '/v1',
  isVersionMissed: true,
  variable: addressVariables.anthropic,
} as const;

/** What a model of Anthropic takes besides. */
export interface AnthropicOptions extends ProviderOptions {
  /** `false` leaves the marks for the prompt cache out: tools, instructions and a growing conversation carry them by default. */
  readonly promptCache?: boolean | undefined;
}

/**
 * A model of Anthropic. The key comes from `ANTHROPIC_API_KEY`.
 *
 * @example anthropic('claude-sonnet-5')
 */
export const anthropic: Provider<AnthropicOptions> = defineProvider<AnthropicOptions>({
  provider: 'anthropic',
  keyVariables: ['ANTHROPIC_API_KEY'],
  isKeyRequired: true,
  keyHeader: 'x-api-key',
  address: (options, environment) => addressOf(options, environment, official),
  ownOptions: { promptCache: aFlag },
  wire: anthropicWire,
  capabilities: (model) => capabilitiesOf('anthropic', bareName(model)),
  price: (model) => priceOf('anthropic', model),
});

/** Gateways put their own words in front: `us.anthropic.claude-sonnet-4-5-20250929-v1:0`. */
function bareName(model: string): string {
  return model.slice(Math.max(0, model.lastIndexOf('claude-')));
}

/**
 * Models up to Sonnet 4.5 and Haiku 4.5 know a budget of thinking and no effort, and so do those of other houses; Opus 4.5
 * was the first with an effort.
 */
const withoutEffort = /^(?!claude-)|^claude-(?:2|3|instant|(?:sonnet|haiku|opus)-4(?:-[015])?(?:[-@]|$))/;
const firstWithEffort = /^claude-opus-4-5/;

function anthropicWire(model: string, { promptCache = true }: AnthropicOptions): Wire {
  const name = bareName(model);
  const isFirst = firstWithEffort.test(name);
  return {
    protocol: anthropicMessages,
    dialect: { effort: isFirst || !withoutEffort.test(name), adaptive: !isFirst, promptCache },
  };
}
