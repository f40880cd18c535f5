// Table: the calls of `rerail demo`, each with the way in which its provider misbehaves.

import type { FaultEntry } from '../chaos/schedule.ts';
import type { ChaosServer } from '../chaos/server.ts';
import type { Model } from '../model/model.ts';
import { anthropic } from '../providers/anthropic/anthropic.ts';
import { gemini } from '../providers/gemini/gemini.ts';
import { openaiCompatible } from '../providers/openai-compatible/openai-compatible.ts';
import { openai } from '../providers/openai/openai.ts';

/** One call: what is asked of whom, and what goes wrong. */
export interface Act {
  readonly title: string;
  /** What each request meets, in order; null is a good answer. */
  readonly faults: readonly (FaultEntry | null)[];
  readonly models: (server: ChaosServer) => readonly Model[];
  readonly prompt: string;
  /** What a plain loop around an SDK makes of it. */
  readonly without: string;
}

// Any key will do at the misbehaving provider.
const apiKey = 'demo';

const viaAnthropic = (server: ChaosServer): Model =>
  anthropic('claude-sonnet-5', { baseURL: server.baseURL('anthropic'), apiKey });
const viaOpenAI = (server: ChaosServer): Model =>
  openai('gpt-5.2', { baseURL: server.baseURL('openai-responses'), apiKey });
const viaGemini = (server: ChaosServer): Model =>
  gemini('gemini-2.5-flash', { baseURL: server.baseURL('gemini'), apiKey });
/** A server of one's own that continues an answer from its text. */
const viaOwnServer = (server: ChaosServer): Model =>
  openaiCompatible({
    name: 'own-server',
    baseURL: server.baseURL('openai-chat'),
    capabilities: { continuation: 'prefill' },
    dialect: { continuation: 'plain' },
  })('some-model');

export const acts: readonly Act[] = [
  {
    title: 'The connection breaks in the middle of the answer',
    faults: ['reset-mid-stream', null],
    models: (server) => [viaAnthropic(server)],
    prompt: 'What is Rerail?',
    without: 'half an answer, shown as if it were one',
  },
  {
    title: 'The stream just ends, at a server that can continue it',
    faults: ['close-without-length', null],
    models: (server) => [viaOwnServer(server)],
    prompt: 'What is a failure here?',
    without: 'half an answer: to HTTP this looks like success',
  },
  {
    title: 'Too many requests: the provider asks for 600 ms',
    faults: [{ name: 'rate-limit', retryAfter: 0.6, form: 'ms' }, null],
    models: (server) => [viaOpenAI(server)],
    prompt: 'Why did you wait?',
    without: 'the next request too early, and another refusal',
  },
  {
    title: 'A 429 again, but this time the account is empty',
    faults: ['quota', null],
    models: (server) => [viaOpenAI(server), viaGemini(server)],
    prompt: 'What is a fallback?',
    without: 'three more requests that can only fail',
  },
  {
    title: 'A good answer with nothing in it',
    faults: ['empty-answer', null],
    models: (server) => [viaGemini(server)],
    prompt: 'What does a breaker do?',
    without: 'an empty text, called a success',
  },
  {
    title: 'The provider takes the request and never answers',
    faults: ['header-hang', null],
    models: (server) => [viaAnthropic(server)],
    prompt: 'What is a broken stream?',
    without: 'five minutes of silence',
  },
  {
    title: 'The key is wrong',
    faults: ['auth'],
    models: (server) => [viaAnthropic(server)],
    prompt: 'Hello',
    without: 'a stack trace, or three more requests with the same key',
  },
];
