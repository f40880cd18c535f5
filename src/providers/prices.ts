// Table: what a million tokens cost, in US dollars, as the providers published it on the day beside it. Where a provider
// charges more for long prompts or at busy hours, the lower price stands here, and a budget should leave room for it.
import type { Price } from '../model/price.ts';

/**
 * The price of a model, or nothing where it is not known. A name counts as its row also with a date after it:
 * `gpt-4o-2024-11-20`, `claude-sonnet-4-5-20250929`. Moving names such as `mistral-large-latest` have no price.
 */
export function priceOf(provider: string, model: string): Price | undefined {
  const name = model.replace(datedSuffix, '');
  for (const { asOf, provider: owner, rows } of priceLists) {
    if (owner !== provider) continue;
    const row = rows.find(([rowName]) => rowName === model || rowName === name);
    if (row !== undefined) return toPrice(row, asOf);
  }
  return undefined;
}

/** The names that have a price: what a mistyped name is compared with. */
export function pricedModels(provider: string): readonly string[] {
  return priceLists
    .filter(({ provider: owner }) => owner === provider)
    .flatMap(({ rows }) => rows.map(([name]) => name));
}

const datedSuffix = /[-@]20\d{2}-?[01]\d-?[0-3]\d$/;

/** Input, output, read from the cache, written to the cache. */
type PriceRow = readonly [name: string, input: number, output: number, read?: number, write?: number];

interface PriceList {
  readonly provider: string;
  readonly asOf: string;
  readonly rows: readonly PriceRow[];
}

function toPrice([, inputUsd, outputUsd, cacheReadUsd, cacheWriteUsd]: PriceRow, asOf: string): Price {
  return {
    inputUsd,
    outputUsd,
    ...(cacheReadUsd === undefined ? {} : { cacheReadUsd }),
    ...(cacheWriteUsd === undefined ? {} : { cacheWriteUsd }),
    asOf,
  };
}

const priceLists: readonly PriceList[] = [
  {
    provider: 'anthropic',
    asOf: '2026-11-15',
    // Writes are those kept for five minutes. Haiku 5.5 is left out: beyond 100,000 tokens it costs five times as much.
    rows: [
      ['claude-fable-5-1', 10, 50, 0.25, 12.5],
      ['claude-fable-5', 10, 50, 1, 12.5],
      ['claude-opus-5-5', 4, 20, 0.2, 5],
      ['claude-opus-5', 5, 25, 0.5, 6.25],
      ['claude-opus-4-8', 5, 25, 0.5, 6.25],
      ['claude-opus-4-7', 5, 25, 0.5, 6.25],
      ['claude-opus-4-6', 5, 25, 0.5, 6.25],
      ['claude-opus-4-5', 5, 25, 0.5, 6.25],
      ['claude-opus-4-1', 15, 75, 1.5, 18.75],
      ['claude-opus-4-0', 15, 75, 1.5, 18.75],
      ['claude-opus-4', 15, 75, 1.5, 18.75],
      ['claude-sonnet-5-5', 2, 10, 0.2, 2.5],
      ['claude-sonnet-5', 2, 10, 0.2, 2.5],
      ['claude-sonnet-4-6', 3, 15, 0.3, 3.75],
      ['claude-sonnet-4-5', 3, 15, 0.3, 3.75],
      ['claude-sonnet-4-0', 3, 15, 0.3, 3.75],
      ['claude-sonnet-4', 3, 15, 0.3, 3.75],
      ['claude-3-7-sonnet', 3, 15, 0.3, 3.75],
      ['claude-haiku-4-5', 1, 5, 0.1, 1.25],
      ['claude-3-5-haiku', 0.8, 4, 0.08, 1],
    ],
  },
  {
    provider: 'openai',
    asOf: '2026-08-01',
    rows: [
      ['gpt-5.6', 5, 30, 0.5, 6.25],
      ['gpt-5.6-sol', 5, 30, 0.5, 6.25],
      ['gpt-5.6-terra', 2, 12, 0.2, 2.5],
      ['gpt-5.6-luna', 0.2, 1.2, 0.02, 0.25],
      ['gpt-5.5', 5, 30, 0.5],
      ['gpt-5.4', 2.5, 15, 0.25],
      ['gpt-5.4-mini', 0.75, 4.5, 0.075],
      ['gpt-5.4-nano', 0.2, 1.25, 0.02],
    ],
  },
  {
    provider: 'openai',
    asOf: '2025-12-31',
    rows: [
      ['gpt-5.2', 1.75, 14, 0.175],
      ['gpt-5.1', 1.25, 10, 0.125],
      ['gpt-5', 1.25, 10, 0.125],
      ['gpt-5-mini', 0.25, 2, 0.025],
      ['gpt-5-nano', 0.05, 0.4, 0.005],
      ['gpt-4.1', 2, 8, 0.5],
      ['gpt-4.1-mini', 0.4, 1.6, 0.1],
      ['gpt-4.1-nano', 0.1, 0.4, 0.025],
      ['gpt-4o', 2.5, 10, 1.25],
      ['gpt-4o-mini', 0.15, 0.6, 0.075],
      ['o3', 2, 8, 0.5],
      ['o4-mini', 1.1, 4.4, 0.275],
      ['o3-mini', 1.1, 4.4, 0.55],
      ['o1', 15, 60, 7.5],
      ['text-embedding-3-large', 0.13, 0],
      ['text-embedding-3-small', 0.02, 0],
    ],
  },
  {
    provider: 'gemini',
    asOf: '2026-07-31',
    rows: [
      ['gemini-3.5-flash', 1.5, 9],
      ['gemini-3.1-pro-preview', 2, 12, 0.2],
      ['gemini-3.1-flash-lite', 0.25, 1.5],
      ['gemini-3-pro-preview', 2, 12, 0.2],
      ['gemini-3-flash-preview', 0.5, 3, 0.05],
      ['gemini-2.5-pro', 1.25, 10, 0.125],
      ['gemini-2.5-flash', 0.3, 2.5, 0.03],
      ['gemini-2.5-flash-lite', 0.1, 0.4, 0.01],
      ['gemini-embedding-001', 0.15, 0],
    ],
  },
  {
    provider: 'deepseek',
    asOf: '2026-06-22',
    rows: [
      ['deepseek-v4-flash', 0.14, 0.28, 0.0028],
      ['deepseek-v4-pro', 0.435, 0.87, 0.003625],
    ],
  },
  {
    provider: 'mistral',
    asOf: '2025-12-31',
    rows: [
      ['mistral-large-2512', 0.5, 1.5],
      ['mistral-medium-2508', 0.4, 2],
      ['mistral-small-2506', 0.1, 0.3],
      ['codestral-2508', 0.3, 0.9],
      ['mistral-embed', 0.1, 0],
    ],
  },
  {
    provider: 'xai',
    asOf: '2026-08-13',
    rows: [
      ['grok-4.6', 2, 6, 0.5],
      ['grok-4.5', 2, 6, 0.5],
      ['grok-4.3', 1.25, 2.5, 0.2],
    ],
  },
  {
    provider: 'groq',
    asOf: '2026-06-30',
    rows: [
      ['openai/gpt-oss-120b', 0.15, 0.6, 0.075],
      ['openai/gpt-oss-20b', 0.075, 0.3, 0.0375],
      ['llama-3.3-70b-versatile', 0.59, 0.79],
      ['llama-3.1-8b-instant', 0.05, 0.08],
      ['qwen/qwen3-32b', 0.29, 0.59],
    ],
  },
];
