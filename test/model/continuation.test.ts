import { describe, expect, it } from 'vitest';
import { createFailure } from '../../src/errors/failure.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import { hello, play } from './play.ts';
import { bareModel, brokenAfter } from './scripted.ts';
import type { Answer } from './scripted.ts';

const capabilities = { continuation: 'prefill' } as const;
const full = 'The quick brown fox jumps over the lazy dog, twice.';
const head = full.slice(0, 39); // Ends with a word: trailing space is cut before an answer is continued.
const finishedBy = (reason: 'length' | 'refused' | 'stop', text: string): Answer => ({
  parts: [
    { type: 'text-delta', text },
    { type: 'finished', finish: { reason, raw: reason } },
  ],
});
const noRoom = createFailure('OVERLOADED', { origin: 'model', phase: 'headers', message: 'busy' });

const halfCharacter = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])/;

describe('a broken answer', () => {
  it.each([1, 5, 22, 23, 24, 25, 30])(
    'is not glued to a new beginning that broke off after %i characters',
    async (length) => {
      // The third answer continues what it is given, as a server does.
      const honest: Answer[] = [brokenAfter(head), brokenAfter(full.slice(0, length))];
      const continuing = bareModel(
        (call) => honest[call] ?? full.slice(continuing.requests[call]?.continueFrom?.length ?? 0),
        { capabilities },
      );
      const { outcome, shown } = await play(continuing, simulatedClock());
      expect(outcome.type === 'success' && outcome.result.text).toBe(full);
      expect(shown).toBe(full);
    },
  );

  it.each([23, 24, 25])(
    'is dropped when the server begins anew with pieces of %i characters',
    async (length) => {
      const pieces: Answer = {
        parts: [
          { type: 'text-delta', text: full.slice(0, length) },
          { type: 'text-delta', text: full.slice(length) },
          { type: 'finished', finish: { reason: 'stop', raw: 'stop' } },
        ],
      };
      const { outcome, shown } = await play(
        bareModel([brokenAfter(head), pieces], { capabilities }),
        simulatedClock(),
      );
      expect(outcome.type === 'success' && outcome.result.text).toBe(full);
      expect(shown).toBe(full);
    },
  );

  it('is dropped when the server begins anew after a line break', async () => {
    const model = bareModel([brokenAfter(head), `\n\n${full}`], { capabilities });
    const { outcome, shown } = await play(model, simulatedClock());
    expect(outcome.type === 'success' && outcome.result.text.trim()).toBe(full);
    expect(shown.trim()).toBe(full);
  });

  it('is not continued from half a character', async () => {
    const text = 'Here is a smile for all of you: 😀';
    const model = bareModel([brokenAfter(text.slice(0, -1)), '😀!'], { capabilities });
    const { outcome, shown } = await play(model, simulatedClock());
    expect(model.requests[1]?.continueFrom ?? '').not.toMatch(halfCharacter);
    expect(outcome.type === 'success' ? outcome.result.text : '').not.toMatch(halfCharacter);
    expect(shown).toBe(outcome.type === 'success' ? outcome.result.text : '');
  });

  it('is continued from what the caller wanted continued, too', async () => {
    const model = bareModel([brokenAfter(' a time there was a long answer that broke'), ' off.'], {
      capabilities,
    });
    const { outcome } = await play(model, simulatedClock(), {
      request: { ...hello, continueFrom: 'Once upon' },
    });
    expect(outcome.type).toBe('success');
    expect(model.requests.map(({ continueFrom }) => continueFrom)).toEqual([
      'Once upon',
      'Once upon a time there was a long answer that broke',
    ]);
  });

  it('survives that the server is busy when it is to be continued', async () => {
    const model = bareModel([brokenAfter(head), { failure: noRoom }, full.slice(head.length)], {
      capabilities,
    });
    const { outcome, events } = await play(model, simulatedClock());
    expect(model.requests[2]?.continueFrom).toBe(head);
    expect(events).not.toContainEqual({ type: 'text-retracted', keep: 0 });
    expect(outcome.type === 'success' && outcome.result.text).toBe(full);
  });

  it('stays as evidence when the server refused to continue and no attempt is left', async () => {
    const model = bareModel([brokenAfter(head), 400], { capabilities });
    const { outcome, shown } = await play(model, simulatedClock(), { policy: { retry: 'quick' } });
    expect(outcome).toMatchObject({ type: 'failure', partial: { text: head } });
    expect(shown).toBe(head);
  });

  it.each([
    ['length', finishedBy('length', ' and'), 'OUTPUT_TRUNCATED'],
    ['refused', finishedBy('refused', ' No.'), 'CONTENT_FILTERED'],
  ])('whose continuation ended by %s keeps both halves as evidence', async (_name, second, code) => {
    const { outcome, shown } = await play(
      bareModel([brokenAfter(head), second], { capabilities }),
      simulatedClock(),
    );
    expect(outcome).toMatchObject({ type: 'failure', failure: { code } });
    expect(outcome.type === 'failure' && outcome.partial.text).toBe(shown);
    expect(shown.startsWith(head)).toBe(true);
  });

  it('whose continuation ended by a tool call keeps text and call', async () => {
    const second: Answer = {
      parts: [
        { type: 'text-delta', text: ' let me look.' },
        { type: 'tool-call-started', callId: 'a', name: 'search' },
        { type: 'tool-call-delta', callId: 'a', text: '{}' },
        { type: 'tool-call-finished', callId: 'a' },
        { type: 'finished', finish: { reason: 'tool-calls', raw: 'tool_calls' } },
      ],
    };
    const { outcome, shown } = await play(
      bareModel([brokenAfter(head), second], { capabilities }),
      simulatedClock(),
    );
    expect(outcome).toMatchObject({ type: 'success', result: { toolCalls: [{ callId: 'a' }] } });
    expect(shown).toBe(outcome.type === 'success' ? outcome.result.text : '');
  });
});
