import { describe, expect, it } from 'vitest';
import { openaiChat } from './openai-chat.ts';

const answer = (message: unknown, fields: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'stop', ...fields }],
  usage: { prompt_tokens: 1, completion_tokens: 2 },
});

describe('openaiChat.whole()', () => {
  it.each<[string, unknown]>([
    ['text', 'x'],
    ['nothing', undefined],
    ['a list', []],
    ['an empty object', {}],
    ['no choice', { choices: [] }],
    ['a choice without message', { choices: [{ index: 0, finish_reason: 'stop' }] }],
    ['no finish_reason', answer({ content: 'Hi' }, { finish_reason: null })],
    ['content that is a number', answer({ content: 5 })],
  ])('reports %s as malformed', (...[, body]) => {
    expect(openaiChat.whole(body)).toMatchObject({ type: 'problem', problem: { type: 'malformed' } });
  });

  it.each<[string, unknown, string]>([
    ['an error with 200', { error: { message: 'no' } }, '{"error":{"message":"no"}}'],
    ['an error with a status beside it', { error: 'no', status: 503 }, '{"error":"no","status":503}'],
    ['an error inside the choice', { choices: [{ error: { code: 502 } }] }, '{"error":{"code":502}}'],
  ])('hands %s to the classifier', (...[, body, text]) => {
    expect(openaiChat.whole(body)).toMatchObject({
      type: 'problem',
      problem: { type: 'provider-error', body: text },
    });
  });

  it('reads an answer with reasoning, text and calls', () => {
    const calls = [
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
      { id: 'b', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
    ];
    const body = answer({ content: 'Hi', reasoning_content: 'hm', refusal: null, tool_calls: calls });
    expect(openaiChat.whole(body)).toEqual({
      type: 'parts',
      parts: [
        { type: 'started', responseId: 'chatcmpl-1', servedBy: 'm' },
        { type: 'reasoning-delta', text: 'hm' },
        { type: 'text-delta', text: 'Hi' },
        { type: 'tool-call-started', callId: 'a', name: 'f' },
        { type: 'tool-call-delta', callId: 'a', text: '{}' },
        { type: 'tool-call-started', callId: 'b', name: 'f' },
        { type: 'tool-call-delta', callId: 'b', text: '{"x":1}' },
        { type: 'usage', usage: { inputTokens: 1, outputTokens: 2 } },
        { type: 'tool-call-finished', callId: 'a' },
        { type: 'tool-call-finished', callId: 'b' },
        { type: 'finished', finish: { reason: 'tool-calls', raw: 'stop' } },
      ],
    });
  });
});
