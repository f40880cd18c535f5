// Table: the failures of the tour. Each is a short payload of the kind that providers really send.

import type { Observation } from '../classify/observation.ts';

export interface TourSample {
  readonly title: string;
  /** What came in, in short. */
  readonly cameIn: string;
  /** What a matcher of keywords makes of it, and why that is wrong. */
  readonly matcher: string;
  readonly observation: Observation;
}

export const tourSamples: readonly TourSample[] = [
  {
    title: 'OpenAI answers 429',
    cameIn: '429 "You exceeded your current quota, please check your plan and billing details."',
    matcher: '429: wait and retry. But no wait refills an empty account.',
    observation: {
      provider: 'openai',
      status: 429,
      body: '{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}',
    },
  },
  {
    title: 'Gemini answers 429, in nearly the same words',
    cameIn: '429 "You exceeded your current quota …", retryDelay "40s"',
    matcher: '"quota", "billing": give up. But this quota refills every minute.',
    observation: {
      provider: 'gemini',
      status: 429,
      body: '{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"40s"}]}}',
    },
  },
  {
    title: 'Groq answers 429 and says when',
    cameIn: '429 "Rate limit reached … Please try again in 1m47.5s."',
    matcher: '429: retry after 1, 2 and 4 s. But that is a minute too early.',
    observation: {
      provider: 'groq',
      status: 429,
      body: '{"error":{"message":"Rate limit reached for model `llama-3.3-70b-versatile` on tokens per day (TPD): Limit 100000, Used 99124, Requested 1000. Please try again in 1m47.5s.","type":"tokens","code":"rate_limit_exceeded"}}',
    },
  },
  {
    title: 'Anthropic fails inside a stream',
    cameIn: '200, some text, then event: error { type: "overloaded_error" }',
    matcher: '200: success. But the answer stops half way.',
    observation: {
      provider: 'anthropic',
      status: 200,
      body: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    },
  },
  {
    title: 'A prompt that is too long',
    cameIn: '400 "prompt is too long: 214298 tokens > 200000 maximum"',
    matcher: '"429": wait and retry. But that 429 is part of 214298.',
    observation: {
      provider: 'anthropic',
      status: 400,
      body: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 214298 tokens > 200000 maximum"}}',
    },
  },
  {
    title: 'No server answers',
    cameIn: 'fetch failed; cause: connect ECONNREFUSED 127.0.0.1:11434',
    matcher: '"fetch failed": unknown error. But its cause says it all.',
    observation: {
      provider: 'ollama',
      message: 'fetch failed; cause: connect ECONNREFUSED 127.0.0.1:11434',
      errno: 'ECONNREFUSED',
    },
  },
  {
    title: 'A web page answers instead of the API',
    cameIn: '200 "<!DOCTYPE html> … Please sign in to continue"',
    matcher: '200: success. But then JSON.parse throws, and it looks like a bug.',
    observation: {
      provider: 'openai',
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: '<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Please sign in to continue</h1></body></html>',
    },
  },
];
