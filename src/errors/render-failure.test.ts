import { describe, expect, it } from 'vitest';
import type { FailureCode } from './codes.ts';
import { createFailure } from './failure.ts';
import type { FailureDetails } from './failure.ts';
import { renderFailure, renderWait } from './render-failure.ts';

describe('renderFailure() for a person', () => {
  const busy = createFailure('OVERLOADED', {
    message: 'x',
    provider: { provider: 'anthropic' },
    retryAfterMs: 11_200,
  });

  it('says what to do where the runtime has given up', () => {
    const text = renderFailure(busy, 'person', { retrying: false });
    expect(text).toMatch(/^Anthropic is overloaded\. Try again in 12 s\. /);
    expect(text).not.toContain('Rerail will');
  });

  it('says that it goes on by itself where it does', () => {
    expect(renderFailure(busy, 'person')).toBe('Anthropic is overloaded. Rerail will try again in 12 s.');
  });

  it('takes a failure that counts its attempts for the end of the call', () => {
    const hint = 'Start the server.';
    const ended = createFailure('NETWORK_ERROR', { message: 'x', hint, context: { attempts: 3 } });
    expect(renderFailure(ended, 'person')).toMatch(/ Start the server\. Then try again later\.$/);
    expect(renderFailure(ended, 'person', { retrying: true })).toContain('Rerail will try again');
  });

  it('prefers the hint over the general advice', () => {
    const failure = createFailure('AUTHENTICATION_ERROR', { message: 'x', hint: 'Check ANTHROPIC_API_KEY.' });
    expect(renderFailure(failure, 'person')).toBe(
      'The model provider did not accept the API key. Check ANTHROPIC_API_KEY.',
    );
  });

  it('does not fill in what stands in a message', () => {
    const failure = createFailure('CONFIG_ERROR', {
      message: 'the template {tool} and {message} is wrong $& $1',
    });
    expect(renderFailure(failure, 'person')).toContain('the template {tool} and {message} is wrong $& $1.');
  });

  it('knows unknown providers by the name they were given, and no nameless ones', () => {
    const named = (provider: string): string =>
      renderFailure(createFailure('OVERLOADED', { message: 'x', provider: { provider } }), 'person');
    expect(named('acme-ai')).toMatch(/^acme-ai is overloaded/);
    expect(named('node')).toMatch(/^The model provider is overloaded/);
    expect(named('constructor')).toMatch(/^constructor is overloaded/);
  });
});

describe('renderFailure() for a model', () => {
  it('names the tool and quotes the complaint', () => {
    const failure = createFailure('VALIDATION_ERROR', {
      message: '"limit" must be at most 50.',
      context: { tool: 'search' },
    });
    expect(renderFailure(failure, 'model')).toBe(
      'The arguments for the tool "search" are not valid: "limit" must be at most 50. Correct them and call it again.',
    );
  });
});

describe('renderFailure() for a developer', () => {
  it('leaves nothing out', () => {
    const failure = createFailure('NETWORK_ERROR', {
      message: 'The call failed',
      retryAfterMs: 90_000,
      phase: 'connect',
      sideEffect: 'none',
      hint: 'Check the base URL.',
      provider: { provider: 'openai', requestId: 'req_7' },
      context: { because: 'ECONNREFUSED' },
      causes: [{ name: 'TypeError', message: 'fetch failed', code: 'UND_ERR' }],
    });
    const text = renderFailure(failure, 'developer');
    const facts = [
      'NETWORK_ERROR',
      'model',
      'retriable',
      'asked to wait 90000 ms',
      'phase connect',
      'side effect none',
      'Check the base URL',
      'req_7',
      'because',
      'TypeError [UND_ERR]: fetch failed',
    ];
    for (const fact of facts) expect(text).toContain(fact);
  });
});

describe('renderFailure() with an audience nobody knows', () => {
  it('is a defect', () => {
    expect(() => renderFailure(createFailure('UNKNOWN', { message: 'x' }), 'cat' as never)).toThrow(
      /must not be reached/,
    );
  });
});

describe('renderWait()', () => {
  it.each([
    [0, 'a moment'],
    [999, 'a moment'],
    [1000, '1 s'],
    [1001, '2 s'],
    [119_000, '119 s'],
    [119_001, '2 min'],
    [120_000, '2 min'],
    [3_600_000, '60 min'],
    [7_200_000, '2 h'],
    [40 * 86_400_000, '40 days'],
    [73 * 365.25 * 86_400_000, '26664 days'],
  ])('never says less than %d ms is', (delayMs, text) => {
    expect(renderWait(delayMs)).toBe(text);
  });
});

describe('renderFailure() for a person who must act', () => {
  const of = (code: FailureCode, details: Partial<FailureDetails> = {}): string =>
    renderFailure(createFailure(code, { message: 'no', ...details }), 'person', { retrying: false });

  it('says when a plan opens again, and keeps dishonest waits to itself', () => {
    expect(of('QUOTA_EXCEEDED', { retryAfterMs: 18_000_000 })).toMatch(/Or wait: .* in 5 h\.$/);
    expect(of('QUOTA_EXCEEDED', { retryAfterMs: 20_000 })).not.toContain('Or wait');
  });

  it('puts what is in the way before another try, and never asks to try again at once', () => {
    expect(of('NETWORK_ERROR', { hint: 'Start the server.' })).toMatch(
      /Start the server\. Then try again later\.$/,
    );
    expect(of('RATE_LIMITED')).toContain('Try again later.');
    expect(of('RATE_LIMITED', { retryAfterMs: 20_000 })).toContain('Try again in 20 s.');
  });

  it('names who failed by its own spelling, and nobody who was not there', () => {
    const named = (provider: string): string => of('OVERLOADED', { provider: { provider } });
    expect([named('xai'), named('vllm'), named('litellm')]).toEqual([
      expect.stringMatching(/^xAI is/),
      expect.stringMatching(/^vLLM is/),
      expect.stringMatching(/^The LiteLLM proxy is/),
    ]);
    expect(of('PERMISSION_DENIED', { origin: 'storage' })).toMatch(/^The store refused access/);
    expect(of('VALIDATION_ERROR', { origin: 'flow' })).toMatch(/^The flow was given/);
  });
});
