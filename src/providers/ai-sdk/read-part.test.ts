import { describe, expect, it } from 'vitest';
import { readPart } from './read-part.ts';

const usage = { inputTokens: 3, outputTokens: 4 };

describe('readPart()', () => {
  it.each([
    ['nothing', undefined, /no type/],
    ['a text', 'text', /no type/],
    ['a part without a type', { delta: 'x' }, /no type/],
    ['a delta without text', { type: 'text-delta', id: '0', delta: 7 }, /no text/],
    ['a delta of arguments without text', { type: 'tool-input-delta', id: '0' }, /no text/],
    ['a call without an id', { type: 'tool-call', toolName: 'a', input: '{}' }, /no call/],
    ['a call without a tool', { type: 'tool-call', toolCallId: 'a', input: '{}' }, /no tool/],
    [
      'a call whose input is no text',
      { type: 'tool-call', toolCallId: 'a', toolName: 'b', input: {} },
      /no input/,
    ],
    ['a start of arguments without a tool', { type: 'tool-input-start', id: 'a' }, /no tool/],
  ])('calls %s malformed', (_, value, reason) => {
    const read = readPart(value);
    expect(read).toMatchObject({ type: 'malformed', reason: expect.stringMatching(reason) as unknown });
  });

  it.each([
    ['v2', { type: 'unsupported-setting', setting: 'topK', details: 'not here' }, 'topK (not here)'],
    ['v2', { type: 'unsupported-tool', tool: { name: 'search' } }, 'the tool "search"'],
    ['v3', { type: 'unsupported', feature: 'seed' }, 'seed'],
    ['v4', { type: 'unsupported', feature: 'reasoning', details: 'no' }, 'reasoning (no)'],
  ])('names what a model of %s drops', (_, warning, name) => {
    expect(readPart({ type: 'stream-start', warnings: [warning] })).toEqual({
      type: 'opened',
      dropped: [name],
    });
  });

  it.each([
    { type: 'compatibility', feature: 'x' },
    { type: 'deprecated', setting: 'x', message: 'y' },
    { type: 'other', message: 'x' },
    'nonsense',
  ])('takes a warning that drops nothing for none: %j', (warning) => {
    expect(readPart({ type: 'stream-start', warnings: [warning] })).toEqual({ type: 'opened', dropped: [] });
  });

  it.each([
    [{ type: 'ping' }, 'keep-alive'],
    [{ type: 'raw', rawValue: 1 }, 'keep-alive'],
    [{ type: 'source', sourceType: 'url', id: '1', url: 'https://a.example' }, 'ignored'],
    [{ type: 'tool-call', toolCallId: 'a', toolName: 'b', input: '{}', providerExecuted: true }, 'ignored'],
    [{ type: 'tool-result', toolCallId: 'a', toolName: 'b', result: 1 }, 'ignored'],
    [{ type: 'of the future' }, 'ignored'],
    [{ type: 'constructor' }, 'ignored'],
    [{ type: '__proto__' }, 'ignored'],
    [{ type: 'file', mediaType: 'image/png', data: 'x' }, 'foreign'],
    [{ type: 'reasoning-file', mediaType: 'image/png', data: 'x' }, 'foreign'],
    [{ type: 'tool-approval-request', approvalId: 'a', toolCallId: 'b' }, 'foreign'],
  ])('takes %j for %s', (part, type) => {
    expect(readPart(part).type).toBe(type);
  });

  it.each([
    ['v2', 'length', { unified: 'length' }],
    ['v3', { unified: 'other', raw: 'pause_turn' }, { unified: 'other', raw: 'pause_turn' }],
    ['v4', { unified: 'interrupted', raw: undefined }, { unified: 'interrupted' }],
    ['nonsense', 7, { unified: 'unknown' }],
  ])('reads the finish reason of %s', (_, finishReason, finish) => {
    expect(readPart({ type: 'finish', finishReason, usage })).toMatchObject({ type: 'finish', finish });
  });

  it.each([
    ['absent', undefined, {}],
    [
      'nonsense',
      { inputTokens: -1, outputTokens: '5', reasoningTokens: NaN, cachedInputTokens: 2 ** 60 },
      {},
    ],
    [
      'flat',
      { inputTokens: 10, outputTokens: 5, reasoningTokens: 2, cachedInputTokens: 4 },
      { inputTokens: 10, outputTokens: 5, reasoningTokens: 2, cacheReadTokens: 4 },
    ],
    [
      'nested',
      { inputTokens: { total: 10, cacheRead: 4, cacheWrite: 1 }, outputTokens: { total: 5, reasoning: 2 } },
      { inputTokens: 10, outputTokens: 5, reasoningTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 1 },
    ],
    ['half nested', { inputTokens: { total: 10 }, outputTokens: undefined }, { inputTokens: 10 }],
  ])('reads usage that is %s', (_, given, read) => {
    expect(readPart({ type: 'finish', finishReason: 'stop', usage: given })).toMatchObject({ usage: read });
  });

  it('adds the cached part of the prompt where the second specification leaves it out', () => {
    const part = {
      type: 'finish',
      finishReason: 'stop',
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 100 },
      providerMetadata: { anthropic: { cacheCreationInputTokens: 7 } },
    };
    expect(readPart(part)).toMatchObject({
      usage: { inputTokens: 117, cacheReadTokens: 100, cacheWriteTokens: 7 },
    });
  });
});
