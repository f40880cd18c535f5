import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/index.ts';
import { findHistoryProblems } from '../../src/model/check/check-history.ts';
import { eventsOf, expectType, plainTool, setScene, watchEverything } from './scene.ts';

watchEverything();

const call = (callId: string): Extract<Message, { role: 'assistant' }> => ({
  role: 'assistant',
  content: [{ type: 'tool-call', callId, name: 'look', argumentsText: '{}' }],
});
const result = (callId: string): Extract<Message, { role: 'tool' }> => ({
  role: 'tool',
  content: [{ type: 'tool-result', callId, name: 'look', content: 'seen' }],
});
const ask: Message = { role: 'user', content: 'Look.' };
const more: Message = { role: 'user', content: 'And now?' };

const rows: readonly {
  readonly what: string;
  readonly messages: readonly Message[];
  readonly repairs: number;
}[] = [
  { what: 'nothing wrong', messages: [ask, call('a'), result('a'), more], repairs: 0 },
  { what: 'a call without its result', messages: [ask, call('a'), more], repairs: 1 },
  { what: 'a call without its result at the end', messages: [ask, call('a')], repairs: 1 },
  { what: 'a result without its call', messages: [ask, result('a'), more], repairs: 1 },
  { what: 'a result twice', messages: [ask, call('a'), result('a'), result('a'), more], repairs: 1 },
  { what: 'a result that comes late', messages: [ask, call('a'), more, result('a'), more], repairs: 1 },
  { what: 'an empty answer', messages: [ask, { role: 'assistant', content: '' }, more], repairs: 1 },
  { what: 'an answer first', messages: [{ role: 'assistant', content: 'Hello.' }, ask], repairs: 1 },
];

describe('run() with a conversation', () => {
  it.each(rows)('with $what is one that providers take', async ({ messages, repairs }) => {
    const { run, model, events } = setScene({
      tools: [plainTool({ name: 'look', execute: () => 'seen' })],
      script: ['Fine.'],
    });
    const outcome = expectType(await run(messages), 'completed');
    expect(findHistoryProblems(model.calls[0]?.request.messages ?? [])).toEqual([]);
    expect(findHistoryProblems(outcome.messages)).toEqual([]);
    const told = eventsOf(events, 'history-repaired');
    expect(told).toHaveLength(repairs > 0 ? 1 : 0);
    expect(told.flatMap((event) => event.repairs).length).toBeGreaterThanOrEqual(repairs);
    expect(JSON.stringify(model.calls[0]?.request.messages)).toContain('Look.');
  });

  it.each([
    { what: 'an empty text', input: '  ' },
    { what: 'an empty list', input: [] },
    { what: 'a number', input: 7 },
    { what: 'a message of nobody', input: [{ role: 'narrator', content: 'Once upon a time' }] },
    { what: 'null', input: null },
  ])('of $what is a typed failure, and nobody is asked', async ({ input }) => {
    const { run, model } = setScene({ script: ['Never.'] });
    const outcome = expectType(await run(input as never), 'failed');
    expect(['CONFIG_ERROR', 'INVALID_REQUEST']).toContain(outcome.failure.code);
    expect(outcome.report.person.text).not.toBe('');
    expect(model.calls).toHaveLength(0);
  });
});
