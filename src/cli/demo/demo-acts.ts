// Table: the runs of `rerail demo --acts`, each with what goes wrong in it.

import type { FaultSchedule } from '../../chaos/schedule.ts';
import type { ChaosServer } from '../../chaos/server.ts';
import type { Model } from '../../model/model.ts';
import type { Tool } from '../../model/tool.ts';
import { anthropic } from '../../providers/anthropic/anthropic.ts';
import { openai } from '../../providers/openai/openai.ts';
import type { Shop } from './demo-shop.ts';

/** One run of an agent: what is asked of it, and what goes wrong. */
export interface Act {
  readonly title: string;
  /** What is made to go wrong, and where; everything else is decided while one watches. */
  readonly staged: string;
  readonly faults: FaultSchedule;
  readonly models: (server: ChaosServer) => readonly Model[];
  readonly tools: (shop: Shop) => readonly Tool[];
  /** Whether weather and refund do their work and never answer. */
  readonly hasDeafTools?: true;
  readonly prompt: string;
  /** What a person says where the run asks for one. */
  readonly isApproved?: true;
  /** What a plain loop around an SDK makes of it. */
  readonly without: string;
}

// Any key will do at the misbehaving provider.
const apiKey = 'demo';

const viaAnthropic = (server: ChaosServer): Model =>
  anthropic('claude-sonnet-5', { baseURL: server.baseURL('anthropic'), apiKey });
const viaOpenAI = (server: ChaosServer): Model =>
  openai('gpt-5.4', { baseURL: server.baseURL('openai-responses'), apiKey });

export const acts: readonly Act[] = [
  {
    title: 'The connection breaks in the middle of the answer',
    staged: 'the server resets the stream of its second answer',
    faults: { script: [null, 'reset-mid-stream'] },
    models: (server) => [viaAnthropic(server)],
    tools: ({ findOrder }) => [findOrder],
    prompt: 'Find order 17',
    without: 'half an answer, shown as if it were one',
  },
  {
    title: 'Overloaded, twice, between two tool calls',
    staged: 'the server answers requests 2 and 3 with 529',
    faults: { script: [null, 'overloaded', 'overloaded'] },
    models: (server) => [viaAnthropic(server)],
    tools: ({ findOrder, refund }) => [findOrder, refund],
    prompt: 'Find order 18, then refund order 18',
    without: 'the run dies, or starts over with the first tool',
  },
  {
    title: 'A 429 in the middle of the run: the account is empty',
    staged: 'the server answers the second request that the quota is used up',
    faults: { script: [null, 'quota'] },
    models: (server) => [viaOpenAI(server), viaAnthropic(server)],
    tools: ({ refund }) => [refund],
    prompt: 'Refund order 19 for $42',
    without: 'three more requests, and a refund that is reported to no one',
  },
  {
    title: 'The model garbles the arguments of a refund',
    staged: 'the server cuts the arguments of the first call in half',
    faults: { script: ['truncated-tool-arguments'] },
    models: (server) => [viaOpenAI(server)],
    tools: ({ refund }) => [refund],
    prompt: 'Refund order 20 for $30',
    without: 'a crash in JSON.parse, or a refund with {} for arguments',
  },
  {
    title: 'Slow tools: reading is tried again, paying is looked up',
    staged: 'get_weather is too slow the first time; refund pays and never answers',
    faults: { script: [] },
    models: (server) => [viaAnthropic(server)],
    tools: ({ weather, refund }) => [weather, refund],
    hasDeafTools: true,
    prompt: 'What is the weather in Oslo? Then refund order 21 for $30',
    without: 'a run that hangs, or order 21 refunded twice',
  },
  {
    title: 'The model makes the same call for ever',
    staged: 'the server makes every answer the same tool call; the bounds are 2, 3 and 4 calls here',
    faults: { script: ['tool-loop'], repeat: true },
    models: (server) => [viaAnthropic(server)],
    tools: ({ searchOrders }) => [searchOrders],
    prompt: 'Search the orders of last week',
    without: 'the same call until the money runs out',
  },
  {
    title: 'Come back in an hour, says the provider',
    staged: 'the server answers the second request with 429 and retry-after: 3600',
    faults: { script: [null, { name: 'rate-limit', retryAfter: 3600 }] },
    models: (server) => [viaAnthropic(server)],
    tools: ({ findOrder, refund }) => [findOrder, refund],
    prompt: 'Find order 22, then refund order 22',
    without: 'three requests within seconds, and the run is lost',
  },
  {
    title: 'A refund that a person must allow',
    staged: 'nothing goes wrong; the tool asks before every call',
    faults: { script: [] },
    models: (server) => [viaOpenAI(server)],
    tools: ({ refundOnApproval }) => [refundOnApproval],
    prompt: 'Refund order 23 for $30',
    isApproved: true,
    without: 'a process that must stay up until a person answers',
  },
];
