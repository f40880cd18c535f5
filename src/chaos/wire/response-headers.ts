import type { Family } from '../route.ts';

/** Headers by name; a list is sent as several headers of one name. */
export type WireHeaders = Readonly<Record<string, string | readonly string[]>>;

/** What the headers say. */
export interface HeaderSubject {
  readonly requestId: string;
  /** Whether the limit of requests is used up. */
  readonly isLimited: boolean;
  readonly wallMs: number;
}

const limit = 500;
const resetS = 1;

/** The headers that a provider sends with every answer, its own names for ids and limits included. */
export function providerHeaders(family: Family, subject: HeaderSubject): WireHeaders {
  return headersOf[family](subject);
}

const headersOf = {
  openai: ({ requestId, isLimited }) => ({
    'x-request-id': requestId,
    'openai-version': '2020-10-01',
    'openai-organization': 'chaos',
    'openai-processing-ms': '12',
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': isLimited ? '0' : String(limit - 1),
    'x-ratelimit-reset-requests': `${resetS}s`,
  }),
  anthropic: ({ requestId, isLimited, wallMs }) => ({
    'request-id': requestId,
    'anthropic-organization-id': 'chaos',
    'anthropic-ratelimit-requests-limit': String(limit),
    'anthropic-ratelimit-requests-remaining': isLimited ? '0' : String(limit - 1),
    'anthropic-ratelimit-requests-reset': new Date(wallMs + resetS * 1000).toISOString(),
  }),
  gemini: () => ({ vary: 'Origin, X-Origin, Referer', 'server-timing': 'gfet4t7; dur=12' }),
  ollama: () => ({}),
} as const satisfies Record<Family, (subject: HeaderSubject) => WireHeaders>;
